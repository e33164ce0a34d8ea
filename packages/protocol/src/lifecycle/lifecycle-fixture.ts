import type { Digest } from "../signing/digest.ts";
import type { Handoff, LifecycleEvent, LifecycleTerms } from "./handoff.ts";
import { step } from "./lifecycle.ts";

export const HANDOFF: Digest = "sha256:aa";
export const OTHER: Digest = "sha256:bb";
export const RESULT: Digest = "sha256:cc";
export const CANCEL: Digest = "sha256:dd";
export const ANSWER: Digest = "sha256:ee";

export const START = 1_000;
export const DEADLINE = 100_000;

export const TERMS: LifecycleTerms = {
  maxAttempts: 3,
  leaseMs: 300,
  offerMs: 200,
  graceMs: 100,
  backoffMs: 40,
  backoffCapMs: 1_000,
};

/** An event, with defaults as an honest party would send them. */
export function eventFrom(
  event: { type: LifecycleEvent["type"] } & Record<string, unknown>,
): LifecycleEvent {
  const ofRecipient = { by: "r", attempt: 1, re: HANDOFF };
  const defaults: Record<LifecycleEvent["type"], Record<string, unknown>> = {
    submit: { id: "h", digest: HANDOFF, by: "d", recipient: "r", deadline: DEADLINE, terms: TERMS },
    offer: { recipient: "r" },
    taken: { by: "r", attempt: 1 },
    heartbeat: { by: "r", attempt: 1 },
    accept: ofRecipient,
    progress: ofRecipient,
    question: { ...ofRecipient, questions: ["q"] },
    pause: { ...ofRecipient, questions: ["q"] },
    reject: { ...ofRecipient, status: 422, digest: RESULT },
    release: { ...ofRecipient, status: 300 },
    result: { ...ofRecipient, status: 200, digest: RESULT },
    answer: { by: "d", question: "q", digest: ANSWER },
    cancel: { by: "d", digest: CANCEL },
    acknowledge: { by: "d", outcome: RESULT },
    unreachable: { attempt: 1 },
    lease_lost: { attempt: 1 },
    parent_ended: {},
    group_decided: {},
    expire: {},
    dead_letter: { status: 404 },
    discard: {},
  };
  return { at: START, ...defaults[event.type], ...event } as LifecycleEvent;
}

/** The state after these events, each of which must be accepted. */
export function stateAfter(
  ...events: ({ type: LifecycleEvent["type"] } & Record<string, unknown>)[]
): Handoff {
  let state: Handoff | undefined;
  for (const event of events) {
    const next = step(state, eventFrom(event));
    const [reply] = next.effects;
    if (reply?.type !== "reply" || reply.status !== 100) {
      throw new Error(`${event.type} was answered ${JSON.stringify(reply)}`);
    }
    state = next.state;
  }
  return state!;
}

export function deepFreeze<Value>(value: Value): Value {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const member of Object.values(value)) deepFreeze(member);
  return value;
}
