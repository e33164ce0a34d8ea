import type { PortableWork } from "@waybill/agent/adapter";
import type { Json, JsonSchema, UsageRow } from "@waybill/protocol";
import type { TaskOutcome } from "./crew.ts";
import type { Assignment } from "./member.ts";

/** What a crew is asked. */
export interface CrewWork {
  /** Names the run. What its members hand off is found again when one of this name goes on. */
  readonly run: string;
  readonly request?: PortableWork | undefined;
  /** The form of what the last task comes to, where the task says none. */
  readonly output?: JsonSchema | undefined;
  /** Where an earlier run of it has paused: goes on there, with the answers. */
  readonly after?: CrewState | undefined;
  readonly answers?: ReadonlyMap<string, Json> | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly traceparent?: string | undefined;
  readonly tracestate?: string | undefined;
  /** Hears of each task that is done. */
  readonly onTask?: ((outcome: TaskOutcome) => void) | undefined;
  /** Hears what members report while they work. */
  readonly onProgress?: ((event: unknown) => void) | undefined;
  /** Answers questions. Left out: the crew pauses with them. */
  readonly onQuestion?: Assignment["ask"] | undefined;
}

/** How far a crew is, as JSON: all there is to know in order to go on. */
export interface CrewState {
  readonly done: readonly TaskOutcome[];
  /** What the steps of tasks that are not done have come to, by the names of the tasks. */
  readonly steps: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** What its members have used. */
  readonly usage?: readonly UsageRow[] | undefined;
}
