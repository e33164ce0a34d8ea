import { currentWork, progressOf, wordsOf } from "@waybill/agent/adapter";
import { WaybillError } from "@waybill/protocol";
import type { Json } from "@waybill/protocol";
import { isObject } from "./message.ts";
import type { RemoteAgent } from "./remote-agent.ts";

/** Which classes of messages a served agent has for its delegator, by their names in Python. */
export interface DelegatorAgentOptions {
  /** What is asked is its `text`; an `id`, where it has one, names the question in every attempt. */
  readonly question?: string | undefined;
  /** How far the work is: its `message`, `fraction` or `data`. */
  readonly progress?: string | undefined;
  /** What the model writes, as it writes it: its `text`. It goes out unsigned, so the answer has to hold the whole. */
  readonly delta?: string | undefined;
  /** What all of them are answered with: its `text` is the answer to a question. */
  readonly reply: string;
}

/**
 * Whoever has handed off what a served agent works on, as an agent that it can ask and keep informed.
 *
 * @example
 * ```ts
 * const delegator = delegatorAgent({ question: "Question", reply: "Answer" });
 * const host = await openAutogenHost({ agents: { delegator } });
 * ```
 */
export function delegatorAgent(options: DelegatorAgentOptions): RemoteAgent {
  return async ({ message: { type, value }, sender }) => {
    const work = currentWork();
    if (work === undefined) {
      const who = sender === undefined ? "The sender" : `${sender.type}/${sender.key}`;
      throw new WaybillError(404, `${who} works on no handoff, so it has no delegator.`);
    }
    const text = async (): Promise<string> => {
      if (type === options.question) return wordsOf(await work.ask(questionIn(value)));
      if (type === options.progress) await work.progress(progressOf(value));
      else if (type === options.delta) work.delta(textIn(value));
      else throw new WaybillError(400, `A delegator is told nothing by messages of type ${type}.`);
      return "";
    };
    return { type: options.reply, value: { text: await text() } };
  };
}

function questionIn(value: Json) {
  const id = isObject(value) ? value["id"] : undefined;
  return { text: textIn(value), ...(typeof id === "string" ? { id } : {}) };
}

function textIn(value: Json): string {
  const text = isObject(value) ? value["text"] : undefined;
  if (typeof text === "string") return text;
  throw new WaybillError(400, "The message has no text.");
}
