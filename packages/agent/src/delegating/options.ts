import type { Group, HandoffBody, Json } from "@waybill/protocol";
import type { GivenArtifact } from "../artifacts/given.ts";
import type { JsonLike } from "../capability/json-like.ts";
import type { CounterRule } from "./counter.ts";

/** The default time limit: without a deadline of its own a handoff has five minutes. */
export const DEFAULT_TIMEOUT_MS = 300_000;

/** A session, and how long to wait for the agent that holds it. */
export interface SessionOptions {
  /** 1 to 128 visible ASCII characters. */
  readonly id: string;
  /**
   * How long the hub may hold the handoff back while the agent that holds the session is away or has
   * no room. By default another agent takes it at once, and the conversation begins again there.
   */
  readonly waitMs?: number | undefined;
}

/** What is handed off, to whom, and on which terms. */
export interface HandoffOptions<Input = Json> extends Omit<
  HandoffBody,
  "input" | "artifacts" | "metadata"
> {
  /** The input of the work, as the capability's `input_schema` describes it. */
  readonly input?: Input | undefined;
  /**
   * Files to send along, as bytes, by path, or as a stream. Large ones are uploaded before the handoff
   * is sent, which counts towards its time.
   *
   * @example
   * ```ts
   * agent.handoff({ capability: "transcribe", artifacts: [{ path: "interview.wav" }] });
   * ```
   */
  readonly artifacts?: readonly GivenArtifact[] | undefined;
  /** The recipient. By default the hub picks one of the agents with the capability. */
  readonly to?: string | undefined;
  /** The tags that the agent picked by the hub must have. */
  readonly tags?: string[] | undefined;
  /** The reliability that the agent picked by the hub must have, from 0 to 1. */
  readonly minReliability?: number | undefined;
  /** Notes for any purpose. They are ignored when two handoffs with one id are compared. */
  readonly metadata?: { readonly [name: string]: JsonLike } | undefined;
  /** How long it may take; `DEFAULT_TIMEOUT_MS` without this and `deadline`. */
  readonly timeoutMs?: number | undefined;
  /**
   * The earliest time at which the work may start; until then the hub keeps it in custody. `timeoutMs`
   * counts from then on.
   */
  readonly notBefore?: Date | undefined;
  /**
   * Its priority in the queue, from 0 to 9, the most urgent. By default that of the work inside which
   * it is handed off, or 4. One step is worth a minute of waiting, so that nothing starves.
   */
  readonly priority?: number | undefined;
  /** When it has to be done. Inside a handler no later than the deadline of the handler's own work. */
  readonly deadline?: Date | undefined;
  /**
   * Its id, made and stored beforehand by an application that has to find the handoff again after a
   * crash.
   */
  readonly handoffId?: string | undefined;
  /**
   * The job that it belongs to. By default a new one, and inside a handler that of the handler's own
   * work.
   */
  readonly correlationId?: string | undefined;
  /**
   * The conversation that it belongs to: handoffs of this agent that name the same session share it,
   * if their recipient keeps conversations. 1 to 128 visible ASCII characters.
   *
   * @example
   * ```ts
   * await agent.handoff({ capability: "chat", input: "My name is Ada.", session: "trip-42" }).result;
   * await agent.handoff({ capability: "chat", input: "Who am I?", session: "trip-42" }).result;
   * ```
   */
  readonly session?: string | SessionOptions | undefined;
  /**
   * For whom this agent acts, if not for itself: 1 to 128 visible ASCII characters. The permissions of
   * that principal apply, and sessions are the principal's. An operator has to let the agent do this.
   */
  readonly onBehalfOf?: string | undefined;
  /** Its place in a group; set by `handoffAll`. */
  readonly group?: Group | undefined;
  /** The ended handoff that this one retries. */
  readonly replayOf?: string | undefined;
  /** The W3C trace context to send, if it is not that of the active span. */
  readonly traceparent?: string | undefined;
  /** The vendors' part of that trace context. */
  readonly tracestate?: string | undefined;
  /**
   * `auto`: after the code that awaits the result has run. `manual`: when `acknowledge()` is called;
   * until then the hub keeps the result and delivers it again.
   */
  readonly acknowledge?: "auto" | "manual" | undefined;
  /**
   * When to hand off again on the terms that a recipient offers in its 406; by default never. It
   * happens once, under a new id: the handle continues with that handoff. Not allowed in a group,
   * which the hub decides by the 406.
   */
  readonly acceptCounter?: CounterRule | undefined;
  /** Cancels the handoff. */
  readonly signal?: AbortSignal | undefined;
}

/** How a handoff that was found again is resumed. */
export type AttachOptions = Pick<HandoffOptions, "acknowledge" | "acceptCounter">;

/** The options of a handoff whose input is checked beforehand. */
export interface CheckedOptions extends HandoffOptions {
  /** Resolves if it may be sent; rejects with the reason why it may not. */
  readonly checked?: Promise<void> | undefined;
}
