import type { Ask } from "@waybill/agent";
import type { PortableWork } from "@waybill/agent/adapter";
import type { Artifact, Brief, Json, JsonSchema, Message, UsageRow } from "@waybill/protocol";
import type { Manager } from "./manager.ts";

/** One of a crew. */
export interface Member {
  /** What it is in the crew, and how it is called there. */
  readonly role: string;
  /** Read by whoever has to choose among members. */
  readonly goal: string;
  work(assignment: Assignment): Promise<Delivery>;
}

/** What a member is given to do. */
export interface Assignment {
  /** Names the crew's run. */
  readonly run: string;
  /** Names what is to be done in it: the same when it is done again. */
  readonly step: string;
  /** In words, with all that is to be known of the crew's work and of earlier tasks. */
  readonly brief: Brief;
  /** As a value, where the task has one. */
  readonly input: Json | undefined;
  /** What the crew was asked, whole. */
  readonly request: PortableWork;
  /** The crew's, and those that the tasks before have made. */
  readonly artifacts: readonly Artifact[];
  readonly signal: AbortSignal;
  readonly traceparent: string | undefined;
  readonly tracestate: string | undefined;
  progress(event: unknown): void;
  /** Gives the answer, or ends the work until there is one. */
  ask(question: Ask): Promise<Json>;
}

/** What a member delivers for a task. */
export interface Delivery {
  readonly output?: Json | undefined;
  /** What was said on the way. Without an output, the last words are it. */
  readonly messages?: readonly Message[] | undefined;
  readonly artifacts?: readonly Artifact[] | undefined;
  /** What it has used. */
  readonly usage?: readonly UsageRow[] | undefined;
}

/** A member by its role, an agent on the hub by its name, or whoever there has a capability. */
export type Whom = string | { readonly capability: string };

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

/** How a delegation has failed. */
export interface Failure {
  readonly to: Whom;
  readonly status: number;
  readonly message: string;
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
