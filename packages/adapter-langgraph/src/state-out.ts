import { textOf } from "@waybill/agent/adapter";
import type { Finished } from "@waybill/agent/adapter";
import type { BaseMessage } from "@langchain/core/messages";
import type { Artifact, Json } from "@waybill/protocol";
import { fromLangChain, jsonOf } from "./message-out.ts";
import { isGiven } from "./state-in.ts";

type Values = Readonly<Record<string, unknown>>;

/** What a graph has come to, and what it has said on the way. */
export function finishedOf(values: unknown, handoffId: string): Finished {
  if (typeof values !== "object" || values === null || Array.isArray(values)) {
    return { output: values === undefined ? undefined : jsonOf(values) };
  }
  const { messages, artifacts, ...rest } = values as Values;
  return {
    output: jsonOf(rest),
    messages: addedIn(messages, handoffId).map(fromLangChain),
    artifacts: artifactsOf(artifacts),
  };
}

/** What an agent was to fill in, where it has. */
export function structuredIn(values: unknown): Json | undefined {
  const { structuredResponse } = (values ?? {}) as Values;
  return structuredResponse === undefined ? undefined : jsonOf(structuredResponse);
}

/** The last thing that was said by what was run. */
export function lastWordsIn(values: unknown, handoffId: string): string {
  const last = addedIn(((values ?? {}) as Values)["messages"], handoffId).at(-1);
  return last === undefined ? "" : textOf(fromLangChain(last));
}

function addedIn(messages: unknown, handoffId: string): BaseMessage[] {
  if (!Array.isArray(messages)) return [];
  return (messages as BaseMessage[]).filter(({ id }) => !isGiven(id, handoffId));
}

function artifactsOf(artifacts: unknown): Artifact[] | undefined {
  return Array.isArray(artifacts) ? (artifacts as Artifact[]) : undefined;
}
