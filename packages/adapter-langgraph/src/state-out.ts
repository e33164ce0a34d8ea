import { textOf } from "@waybill/agent/adapter";
import type { Finished } from "@waybill/agent/adapter";
import type { BaseMessage } from "@langchain/core/messages";
import type { Artifact, Json } from "@waybill/protocol";
import { fromLangChain, jsonOf } from "./message-out.ts";
import { filesOf } from "./result-files.ts";
import { isGiven } from "./state-in.ts";

type Values = Readonly<Record<string, unknown>>;

/** Which run it was, and the state from which its thread has gone on. */
export interface RunInThread {
  readonly handoffId: string;
  readonly before?: Values | undefined;
}

/** The outcome of a graph, and what it has said on the way. */
export function finishedOf(values: unknown, of: RunInThread): Finished {
  if (typeof values !== "object" || values === null || Array.isArray(values)) {
    return { output: values === undefined ? undefined : jsonOf(values) };
  }
  const { messages, artifacts, ...rest } = values as Values;
  const added = addedIn(messages, of);
  return {
    output: jsonOf(rest),
    messages: added.map(fromLangChain),
    artifacts: filesOf(added, artifactsOf(artifacts, of.before)),
  };
}

/** The structured response of an agent, if there is one. */
export function structuredIn(values: unknown): Json | undefined {
  const { structuredResponse } = (values ?? {}) as Values;
  return structuredResponse === undefined ? undefined : jsonOf(structuredResponse);
}

/** The last message of the run. */
export function lastWordsIn(values: unknown, of: RunInThread): string {
  const last = addedIn(((values ?? {}) as Values)["messages"], of).at(-1);
  return last === undefined ? "" : textOf(fromLangChain(last));
}

/** Only new turns: neither earlier ones, nor those that were given to this run. */
function addedIn(messages: unknown, { handoffId, before }: RunInThread): BaseMessage[] {
  if (!Array.isArray(messages)) return [];
  const earlier = new Set(((before?.["messages"] ?? []) as BaseMessage[]).map(({ id }) => id));
  return (messages as BaseMessage[]).filter(
    ({ id }) => !isGiven(id, handoffId) && (id === undefined || !earlier.has(id)),
  );
}

function artifactsOf(artifacts: unknown, before: Values | undefined): Artifact[] | undefined {
  if (!Array.isArray(artifacts)) return undefined;
  const earlier = new Set(((before?.["artifacts"] ?? []) as Artifact[]).map(nameOf));
  return (artifacts as Artifact[]).filter((each) => !earlier.has(nameOf(each)));
}

function nameOf({ name, digest }: Artifact): string {
  return `${digest} ${name}`;
}
