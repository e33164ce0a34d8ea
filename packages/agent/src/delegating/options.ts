import type { Context } from "@opentelemetry/api";
import type { Group, HandoffBody, HandoffEnvelope, Json } from "@waybill/protocol";
import type { GivenArtifact } from "../artifacts/given.ts";
import type { JsonLike } from "../capability/json-like.ts";
import type { CounterRule } from "./counter.ts";

/** Nothing waits for ever: a handoff without a deadline of its own has five minutes. */
export const DEFAULT_TIMEOUT_MS = 300_000;

/** A session, and how long to wait for the agent that holds it. */
export interface SessionOptions {
  /** 1 to 128 visible ASCII characters. */
  readonly id: string;
  /**
   * How long the hub may hold the handoff back while the agent that holds the session is away or has
   * no room. Left out, another agent takes it at once, and the conversation begins anew there.
   */
  readonly waitMs?: number | undefined;
}

/** What is handed off, to whom, and on which terms. */
export interface HandoffOptions<Input = Json> extends Omit<
  HandoffBody,
  "input" | "artifacts" | "metadata"
> {
  /** What the work is given, as the capability's `input_schema` wants it. */
  readonly input?: Input | undefined;
  /**
   * Files that go along, as bytes, by their path, or as a stream. Large ones are uploaded before the
   * handoff is sent, which counts towards its time.
   *
   * @example
   * ```ts
   * agent.handoff({ capability: "transcribe", artifacts: [{ path: "interview.wav" }] });
   * ```
   */
  readonly artifacts?: readonly GivenArtifact[] | undefined;
  /** The agent it goes to. Left out: the hub picks among those who have the capability. */
  readonly to?: string | undefined;
  /** What the hub's choice has to be tagged with. */
  readonly tags?: string[] | undefined;
  /** How reliable the hub's choice has to be, from 0 to 1. */
  readonly minReliability?: number | undefined;
  /** Notes on the side. They do not count where two handoffs under one id are compared. */
  readonly metadata?: { readonly [name: string]: JsonLike } | undefined;
  /** How long it may take, `DEFAULT_TIMEOUT_MS` where neither this nor `deadline` is given. */
  readonly timeoutMs?: number | undefined;
  /**
   * When the work may start at the earliest: the hub has it in custody until then. `timeoutMs` counts
   * from then on.
   */
  readonly notBefore?: Date | undefined;
  /**
   * How urgent it is among what waits, from 0 to 9, the most urgent; left out, that of the
   * work in whose course it is handed off, or 4. One step
   * is worth a minute of waiting, so that nothing starves.
   */
  readonly priority?: number | undefined;
  /** When it has to be done. Inside a handler no later than the deadline of the work itself. */
  readonly deadline?: Date | undefined;
  /** Made and kept beforehand by whoever must find the handoff again after a crash. */
  readonly handoffId?: string | undefined;
  /** The job that it is part of. Left out: a new one, and inside a handler that of the work itself. */
  readonly correlationId?: string | undefined;
  /**
   * The conversation that it belongs to: handoffs of this agent that name the same session share it,
   * as far as their recipient keeps conversations. 1 to 128 visible ASCII characters.
   *
   * @example
   * ```ts
   * await agent.handoff({ capability: "chat", input: "My name is Ada.", session: "trip-42" }).result;
   * await agent.handoff({ capability: "chat", input: "Who am I?", session: "trip-42" }).result;
   * ```
   */
  readonly session?: string | SessionOptions | undefined;
  /** Its place in a group; `handoffAll` gives it. */
  readonly group?: Group | undefined;
  /** The handoff that ended, and that this one tries anew. */
  readonly replayOf?: string | undefined;
  /** The W3C trace context to carry, where it is not that of the running span. */
  readonly traceparent?: string | undefined;
  /** The vendors' part of that trace context. */
  readonly tracestate?: string | undefined;
  /**
   * `auto`: once the result was asked for and the code that waited for it has run. `manual`: when
   * `acknowledge()` is called; until then the hub keeps the result and delivers it again.
   */
  readonly acknowledge?: "auto" | "manual" | undefined;
  /**
   * When to hand off anew on the terms that a recipient names in its 406; left out, never. It happens
   * once and under an id of its own: the handle goes on with that handoff. Not in a group, which the
   * hub judges by the 406.
   */
  readonly acceptCounter?: CounterRule | undefined;
  /** Cancels the handoff. */
  readonly signal?: AbortSignal | undefined;
}

/** How a handoff that was found again goes on. */
export type AttachOptions = Pick<HandoffOptions, "acknowledge" | "acceptCounter">;

export interface CheckedOptions extends HandoffOptions {
  /** Throws where it is not to be sent after all. */
  readonly check?: (() => Promise<void>) | undefined;
}

export interface ParentedOptions extends CheckedOptions {
  readonly parent?: HandoffEnvelope | undefined;
  /** Where the work on the parent stands in its trace. */
  readonly scope?: Context | undefined;
}
