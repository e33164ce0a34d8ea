import type { Artifact, Json, JsonSchema, Message } from "@waybill/protocol";
import type { Manager } from "./manager.ts";
import type { Failure, Member, Whom } from "./member.ts";

/** One task of a crew. */
export interface Task {
  /** Names it among the crew's tasks. */
  readonly name: string;
  readonly description: string;
  readonly expectedOutput: string;
  /** The member that does it. By default the manager decides, if there is one. */
  readonly member?: Whom | undefined;
  /** For a member that takes a value. */
  readonly input?: Json | undefined;
  /** Earlier tasks whose outputs it builds on, by name. By default all earlier ones. */
  readonly context?: readonly string[] | undefined;
  /**
   * Runs concurrently with the asynchronous tasks next to it; all are done before the next synchronous
   * one.
   */
  readonly isAsync?: boolean | undefined;
  /** The form of its output. */
  readonly output?: JsonSchema | undefined;
  readonly guardrails?: readonly Guardrail[] | undefined;
  /** The most deliveries until its output is accepted, by default 3. */
  readonly triesAtMost?: number | undefined;
}

/** What is wrong with an outcome; undefined if it is accepted. */
export type Guardrail = (outcome: TaskOutcome) => Promise<string | undefined> | string | undefined;

/** How a task has ended. */
export interface TaskOutcome {
  readonly task: string;
  /** The role of the member that did it; "manager" if a manager decided. */
  readonly by: string;
  readonly output: Json | undefined;
  readonly messages: readonly Message[];
  readonly artifacts: readonly Artifact[];
  /** Failed delegations of the manager, before another member delivered. */
  readonly failures: readonly Failure[];
}

/** Members, and the tasks that they do. */
export interface Crew {
  readonly members: readonly Member[];
  readonly tasks: readonly Task[];
  /**
   * Leads the crew: delegates, asks coworkers, and says when a task is done. By default the tasks are
   * done in order.
   */
  readonly manager?: Manager | undefined;
  /** The most moves of a manager for one task, by default 16. */
  readonly movesAtMost?: number | undefined;
  /** Finds a recipient that is no member. */
  readonly elsewhere?: ((whom: Whom) => Promise<Member | undefined>) | undefined;
}
