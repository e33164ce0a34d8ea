/// <reference types="node" />
import { createInterface } from "node:readline/promises";

/** Answers the newsroom's questions. */
export type Answerer = (question: string) => Promise<string>;

const ANSWER_WITHIN_MS = 20_000;

/** The answer if nobody is at the terminal, or nobody answers. */
export const DEFAULT_ANSWER = "The newsroom";

/** Asks the person at the terminal, and waits for a while. */
export function askAtTerminal(prompt: (text: string) => string): Answerer {
  return async (question) => {
    const line = createInterface({ input: process.stdin, output: process.stdout });
    try {
      const signal = AbortSignal.timeout(ANSWER_WITHIN_MS);
      const said = await line.question(prompt(question), { signal });
      return said.trim() === "" ? DEFAULT_ANSWER : said.trim();
    } catch (error) {
      if ((error as Error).name !== "AbortError") throw error;
      process.stdout.write("\n");
      return DEFAULT_ANSWER;
    } finally {
      line.close();
    }
  };
}
