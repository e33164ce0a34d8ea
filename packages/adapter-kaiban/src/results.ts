import { markedAsData } from "@waybill/agent/adapter";
import type { Artifact, Json } from "@waybill/protocol";
import type { KaibanTask, TaskLog, WorkerStore } from "./kaiban.ts";

/** The result of a remote member for a task. */
export interface RemoteResult {
  /** The member's name in the team. */
  readonly by: string;
  /** As code sees it: a text or a value. */
  readonly output: Json;
  readonly artifacts: readonly Artifact[];
}

/** The results by store of a team and id of a task. */
const results = new WeakMap<object, Map<string, RemoteResult>>();

/** Files that remote members have returned in a team, in the order of their results. */
export function filesOf(store: object): Artifact[] {
  return [...(results.get(store)?.values() ?? [])].flatMap(({ artifacts }) => [...artifacts]);
}

/**
 * Marks the result of a task as its remote member's data wherever KaibanJS shows it to a model,
 * which is the result in its log. The task and the workflow keep the result itself.
 */
export function markResult(store: WorkerStore, { id }: KaibanTask, result: RemoteResult): void {
  const known = results.get(store) ?? new Map<string, RemoteResult>();
  known.set(id, result);
  if (results.has(store)) return;
  results.set(store, known);
  const { prepareTaskStatusUpdateLog: prepare } = store.getState();
  store.setState({
    prepareTaskStatusUpdateLog(log) {
      const from = known.get(log.task.id);
      if (from === undefined || log.metadata.result === undefined) return prepare(log);
      return prepare({ ...log, metadata: { ...log.metadata, result: told(from, log) } });
    },
  });
}

function told({ by, output, artifacts }: RemoteResult, { task }: TaskLog): unknown {
  const files = artifacts.map(({ name }) => name);
  const marked = markedAsData(by, files.length === 0 ? output : { output, files });
  // KaibanJS inserts it into a task's description with `replace`, where these patterns have a
  // meaning.
  const words = marked.replaceAll(/\$(?=[$&`'])/g, String.raw`\u0024`);
  if (task.outputSchema == null || typeof output !== "object" || output === null) return words;
  // With a schema, code in later tasks reads the value itself.
  const spelled = { value: () => words };
  return Object.defineProperties(structuredClone(output), { toJSON: spelled, toString: spelled });
}
