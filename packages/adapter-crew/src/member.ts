import type { Ask } from "@waybill/agent";
import type { PortableWork } from "@waybill/agent/adapter";
import type { Artifact, Brief, Json, Message, UsageRow } from "@waybill/protocol";

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

/** How a delegation has failed. */
export interface Failure {
  readonly to: Whom;
  readonly status: number;
  readonly message: string;
}
