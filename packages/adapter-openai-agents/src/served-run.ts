/// <reference types="node" />
import { AsyncLocalStorage } from "node:async_hooks";
import type { Usage } from "@openai/agents";
import type { Run } from "@waybill/agent/adapter";
import type { Artifact, Json } from "@waybill/protocol";

/** What the tools of a served agent need to know of their run. */
export interface ServedRun extends Pick<Run, "ask" | "progress"> {
  /** The answers to the run's questions, by the ids of the calls that asked. */
  readonly answers: ReadonlyMap<string, Json>;
  /** The usage of remote agents, which the SDK has counted with the run's own. */
  readonly remote: Usage;
  /** Files that remote agents have returned, also before a pause. */
  readonly files: Artifact[];
}

const courses = new AsyncLocalStorage<ServedRun>();

export function withServedRun<Value>(course: ServedRun, run: () => Value): Value {
  return courses.run(course, run);
}

export function currentServedRun(): ServedRun | undefined {
  return courses.getStore();
}
