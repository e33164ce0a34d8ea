import type { Ask } from "@waybill/agent";
import type { PortableWork } from "@waybill/agent/adapter";
import type { Artifact, Brief, Json, Message, UsageRow } from "@waybill/protocol";

/** A member of a crew. */
export interface Member {
  /** What it is in the crew, and how it is called there. */
  readonly role: string;
  /** Read by whoever has to choose among members. */
  readonly goal: string;
  work(assignment: Assignment): Promise<Delivery>;
}

/** The request to a member. */
export interface Assignment {
  /** Names the crew's run. */
  readonly run: string;
  /** Names the step within it: the same when it is repeated. */
  readonly step: string;
  /** In words, with everything that has to be known about the crew's work and earlier tasks. */
  readonly brief: Brief;
  /** As a value, where the task has one. */
  readonly input: Json | undefined;
  /** The complete request to the crew. */
  readonly request: PortableWork;
  /** The crew's files, and those of earlier tasks. */
  readonly artifacts: readonly Artifact[];
  readonly signal: AbortSignal;
  readonly traceparent: string | undefined;
  readonly tracestate: string | undefined;
  progress(event: unknown): void;
  /** Returns the answer, or ends the work until there is one. */
  ask(question: Ask): Promise<Json>;
}

/** What a member delivers for a task. */
export interface Delivery {
  readonly output?: Json | undefined;
  /** What was said on the way. Without an output, the last words are the output. */
  readonly messages?: readonly Message[] | undefined;
  readonly artifacts?: readonly Artifact[] | undefined;
  /** What it has used. */
  readonly usage?: readonly UsageRow[] | undefined;
}

/** A member by its role, an agent on the hub by its name, or any agent there with a capability. */
export type Whom = string | { readonly capability: string };

/** How a delegation has failed. */
export interface Failure {
  readonly to: Whom;
  readonly status: number;
  readonly message: string;
}
