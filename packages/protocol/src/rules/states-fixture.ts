import { step } from "../hub.ts";
import type { Handoff, LifecycleEffect, LifecycleEvent } from "../hub.ts";
import type { StatusCode } from "../index.ts";
import { DEADLINE, eventFrom } from "../lifecycle/lifecycle-fixture.ts";

export type Name = LifecycleEvent["type"];
/** An event, with defaults as an honest party would send them. */
export type Given = { type: Name } & Record<string, unknown>;

const submit: Given = { type: "submit" };
export const toAnyone: Given = { type: "submit", recipient: null };
export const offer: Given = { type: "offer" };
export const accept: Given = { type: "accept" };
export const retryable: Given = { type: "result", status: 500, isRetryable: true };

export const BY_RECIPIENT: readonly Name[] = [
  "taken",
  "heartbeat",
  "accept",
  "progress",
  "question",
  "pause",
  "reject",
  "release",
  "result",
];
export const BY_DELEGATOR: readonly Name[] = ["cancel", "answer", "acknowledge"];
export const BY_HUB: readonly Name[] = [
  "offer",
  "unreachable",
  "lease_lost",
  "parent_ended",
  "group_decided",
  "expire",
  "dead_letter",
];

/** The state after events that are all accepted. */
export function after(...events: Given[]): Handoff {
  return follow(undefined, ...events);
}

export function follow(before: Handoff | undefined, ...events: Given[]): Handoff {
  let state = before;
  for (const event of events) {
    const next = step(state, eventFrom(event));
    const answer = answerOf(next.effects);
    if (answer !== 100) throw new Error(`${JSON.stringify(event)} was answered ${answer}`);
    state = next.state;
  }
  return state!;
}

/** The next attempt, after its delay; every later event has to name its time. */
export function again(state: Handoff, recipient = "r"): Handoff {
  return follow(state, { type: "offer", recipient, at: state.nextAttemptAt! });
}

export function answerOf([first]: readonly LifecycleEffect[]): StatusCode | undefined {
  return first?.type === "reply" ? first.status : undefined;
}

/** The answer to an event that must change nothing and cause no effect. */
export function refused(
  state: Handoff | undefined,
  event: Given,
): StatusCode | undefined | "it was taken" {
  const next = step(state, eventFrom(event));
  return next.state === state && next.effects.length === 1
    ? answerOf(next.effects)
    : "it was taken";
}

/** A handoff in progress, by what it is doing. */
export interface OpenStates {
  readonly submitted: Handoff;
  readonly offered: Handoff;
  readonly accepted: Handoff;
  /** For the answers to q and p. */
  readonly waiting: Handoff;
  readonly paused: Handoff;
}

export function openStates(): OpenStates {
  const accepted = after(submit, offer, accept);
  return {
    submitted: after(submit),
    offered: after(submit, offer),
    accepted,
    waiting: follow(accepted, { type: "question", questions: ["q", "p"] }),
    paused: follow(accepted, { type: "pause", questions: ["q", "p"] }),
  };
}

/** Those with a live attempt. */
export function liveStates(): Handoff[] {
  const { offered, accepted, waiting } = openStates();
  return [offered, accepted, waiting];
}

/** Ended handoffs, by their end. */
export interface EndedStates {
  readonly completed: Handoff;
  readonly failed: Handoff;
  readonly rejected: Handoff;
  readonly cancelled: Handoff;
  readonly parentEnded: Handoff;
  readonly expired: Handoff;
  readonly deadLettered: Handoff;
}

export function endedStates(): EndedStates {
  const accepted = after(submit, offer, accept);
  return {
    completed: follow(accepted, { type: "result" }),
    failed: follow(accepted, { type: "result", status: 500 }),
    rejected: follow(after(submit, offer), { type: "reject" }),
    cancelled: follow(accepted, { type: "cancel" }),
    parentEnded: follow(accepted, { type: "parent_ended" }),
    expired: follow(accepted, { type: "expire", at: DEADLINE }),
    deadLettered: follow(after(submit), { type: "dead_letter" }),
  };
}
