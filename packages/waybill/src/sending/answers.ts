/// <reference types="node" />
import { createInterface } from "node:readline/promises";
import type { QuestionEvent } from "@waybill/agent";
import { parseJson } from "@waybill/protocol";
import type { Json } from "@waybill/protocol";
import type { Terminal } from "../terminal/terminal.ts";
import { printable } from "../terminal/text.ts";

/** Answers given beforehand: `id=value` to that question, a bare value to the next that has none. */
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

  /** A question's own id is `anna/1`, or what its agent named it. */
  take({ id }: Pick<QuestionEvent, "id">): Json | undefined {
    const given = this.#byId.get(id);
    return given === undefined ? this.#inTurn.shift() : given;
  }
}

/** JSON where it is, and otherwise the text itself. */
export function valueOf(text: string): Json {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}

/** Asks whoever sits there; undefined where nobody does. */
export async function askAtTerminal(
  question: QuestionEvent,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<Json | undefined> {
  if (!process.stdin.isTTY || !terminal.isWatched) return undefined;
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  // It reads the keys itself, Ctrl-C too.
  lines.once("SIGINT", () => process.kill(process.pid, "SIGINT"));
  try {
    const text = await lines.question(`  ${printable(question.text ?? question.id)} `, { signal });
    return valueOf(text);
  } finally {
    lines.close();
  }
}
