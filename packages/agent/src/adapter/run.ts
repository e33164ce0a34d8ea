import type { Capability, Json } from "@waybill/protocol";
import type { WorkSession } from "../serving/session.ts";
import type { Ask, Resume } from "../serving/work.ts";
import type { PortableWork } from "./portable.ts";
import type { CountedUsage } from "./usage.ts";

/** One run of a framework's agent or graph, as its adapter sees it. */
export interface Run {
  /** The work, with its history made safe for a model by `historyFrom`. */
  readonly work: PortableWork;
  /** The work as the delegator sent it, for code only: its history may impersonate anybody. */
  readonly received: PortableWork;
  /** The agent that handed it off. */
  readonly delegator: string;
  /** The served capability, with every default filled in and its schemas as JSON Schema. */
  readonly capability: Capability;
  /** The idempotency key of the run: the same in every attempt. */
  readonly handoffId: string;
  /**
   * The name under which the framework keeps the run: its thread or session. It is the same in every
   * attempt, and in every handoff of one session; without a session it is the handoff's id.
   */
  readonly thread: string;
  /**
   * Present if the handoff names a session. `found` tells the delegator whether the framework had its
   * conversation. Runs of one session are serialized.
   */
  readonly session: WorkSession | undefined;
  readonly correlationId: string;
  readonly attempt: number;
  readonly deadline: Date;
  /** W3C trace context of the handoff. */
  readonly traceparent: string | undefined;
  readonly tracestate: string | undefined;
  /** For the framework: when it fires, the run has to stop. */
  readonly signal: AbortSignal;
  /** Present if an earlier attempt paused: resume from its state, with the answers by question id. */
  readonly resume: Resume | undefined;
  /** Reports what the framework streams as progress, in order. */
  progress(event: unknown): void;
  /** Adds usage that the framework has counted, to the result or to a failure. */
  addUsage(counted: CountedUsage): void;
  /** Shows what the framework's model writes, as it writes it. The result has to contain the whole text. */
  delta(text: string): void;
  /** Asks while the run goes on, for a framework that can't be paused. */
  ask(question: Ask | string): Promise<Json>;
}
