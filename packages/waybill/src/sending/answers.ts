/// <reference types="node" />
import { createInterface } from "node:readline/promises";
import type { QuestionEvent } from "@waybill/agent";
import { parseJson } from "@waybill/protocol";
import type { Json } from "@waybill/protocol";
import type { Terminal } from "../terminal/terminal.ts";
import { printable } from "../terminal/text.ts";

/**
 * Answers given in advance: `id=value` for that question, a bare value for the next one without an
 * answer.
 */
export class Answers {
  readonly #byId = new Map<string, Json>();
  readonly #inTurn: Json[] = [];

  constructor(given: readonly string[]) {
    for (const each of given) {
      const [, id, value] = /^([\w./:-]+)=(.*)$/s.exec(each) ?? [];
      if (id === undefined) this.#inTurn.push(valueOf(each));
      else this.#byId.set(id, valueOf(value!));
    }
  }

  /** A question's own id is `anna/1`, or a name given by its agent. */
  take({ id }: Pick<QuestionEvent, "id">): Json | undefined {
    const given = this.#byId.get(id);
    return given === undefined ? this.#inTurn.shift() : given;
  }
}

/** The value parsed as JSON, or else the text itself. */
export function valueOf(text: string): Json {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}

/** Asks the person at the terminal; undefined if there is none. */
export async function askAtTerminal(
  question: QuestionEvent,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<Json | undefined> {
  if (!process.stdin.isTTY || !terminal.isWatched) return undefined;
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  // The readline interface handles all keys itself, including Ctrl-C.
  lines.once("SIGINT", () => process.kill(process.pid, "SIGINT"));
  try {
    const text = await lines.question(`  ${printable(question.text ?? question.id)} `, { signal });
    return valueOf(text);
  } finally {
    lines.close();
  }
}
