/// <reference types="node" />
import { createInterface } from "node:readline/promises";

/** Answers what the newsroom asks. */
export type Answerer = (question: string) => Promise<string>;

const ANSWER_WITHIN_MS = 20_000;

/** What is answered where nobody sits at the terminal, or nobody says anything. */
export const DEFAULT_ANSWER = "The newsroom";

/** Asks who sits at the terminal, for a while. */
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
