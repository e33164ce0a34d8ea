import type { Artifact, Json, JsonSchema, Message } from "@waybill/protocol";
import type { Manager } from "./manager.ts";
import type { Failure, Member, Whom } from "./member.ts";

/** One task of a crew. */
export interface Task {
  /** Names it among the crew's tasks. */
  readonly name: string;
  readonly description: string;
  readonly expectedOutput: string;
  /** Who does it. Where a manager leads and it is left out, the manager sees to it. */
  readonly member?: Whom | undefined;
  /** For a member that takes a value. */
  readonly input?: Json | undefined;
  /** Earlier tasks whose outputs it builds on, by name. Left out: all that were done before. */
  readonly context?: readonly string[] | undefined;
  /** Runs beside the asynchronous tasks next to it; all are done before the next that is not. */
  readonly isAsync?: boolean | undefined;
  /** The form of its output. */
  readonly output?: JsonSchema | undefined;
  readonly guardrails?: readonly Guardrail[] | undefined;
  /** How often it is done at most until its output holds: 3 where it is left out. */
  readonly triesAtMost?: number | undefined;
}

/** What is wrong with an outcome; undefined where it can be used. */
export type Guardrail = (outcome: TaskOutcome) => Promise<string | undefined> | string | undefined;

/** How a task has ended. */
export interface TaskOutcome {
  readonly task: string;
  /** The role of who did it; of a task that a manager saw to, "manager". */
  readonly by: string;
  readonly output: Json | undefined;
  readonly messages: readonly Message[];
  readonly artifacts: readonly Artifact[];
  /** What a manager delegated and has failed, before somebody else delivered. */
  readonly failures: readonly Failure[];
}

/** Members, and the tasks that they do. */
export interface Crew {
  readonly members: readonly Member[];
  readonly tasks: readonly Task[];
  /** Leads the crew: delegates, asks coworkers, and says when a task is done. Left out: one task follows the other. */
  readonly manager?: Manager | undefined;
  /** How many moves a manager may make for one task: 16 where it is left out. */
  readonly movesAtMost?: number | undefined;
  /** Finds who is to do something and is no member. */
  readonly elsewhere?: ((whom: Whom) => Promise<Member | undefined>) | undefined;
}
