/// <reference types="node" />
import { AsyncLocalStorage } from "node:async_hooks";
import type { Usage } from "@openai/agents";
import type { Run } from "@waybill/agent/adapter";
import type { Artifact, Json } from "@waybill/protocol";

/** What tools of a served agent need to know of the run that they are in. */
export interface ServedRun extends Pick<Run, "ask" | "progress"> {
  /** To questions that a run has paused with, by the ids of the calls that asked. */
  readonly answers: ReadonlyMap<string, Json>;
  /** What remote agents have used, which the SDK has counted with the run. */
  readonly remote: Usage;
  /** Files that remote agents have given, before a pause too. */
  readonly files: Artifact[];
}

const courses = new AsyncLocalStorage<ServedRun>();

export function withServedRun<Value>(course: ServedRun, run: () => Value): Value {
  return courses.run(course, run);
}

export function currentServedRun(): ServedRun | undefined {
  return courses.getStore();
}
