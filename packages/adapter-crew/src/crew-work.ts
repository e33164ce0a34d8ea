import type { PortableWork } from "@waybill/agent/adapter";
import type { Json, JsonSchema, UsageRow } from "@waybill/protocol";
import type { TaskOutcome } from "./crew.ts";
import type { Assignment } from "./member.ts";

/** The request to a crew. */
export interface CrewWork {
  /** Names the run. A run with the same name finds the earlier handoffs of its members. */
  readonly run: string;
  readonly request?: PortableWork | undefined;
  /** The form of the last task's outcome, if the task states none. */
  readonly output?: JsonSchema | undefined;
  /** Where an earlier run has paused: resumes there, with the answers. */
  readonly after?: CrewState | undefined;
  readonly answers?: ReadonlyMap<string, Json> | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly traceparent?: string | undefined;
  readonly tracestate?: string | undefined;
  /** Called for each task that is done. */
  readonly onTask?: ((outcome: TaskOutcome) => void) | undefined;
  /** Called for members' progress. */
  readonly onProgress?: ((event: unknown) => void) | undefined;
  /** Answers questions. By default the crew pauses with them. */
  readonly onQuestion?: Assignment["ask"] | undefined;
}

/** The state of a crew, as JSON: everything that is needed to resume it. */
export interface CrewState {
  readonly done: readonly TaskOutcome[];
  /** The outcomes of steps of unfinished tasks, by task name. */
  readonly steps: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** What its members have used. */
  readonly usage?: readonly UsageRow[] | undefined;
}
