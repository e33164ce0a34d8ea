import type { Handoff, LifecycleEffect, Step } from "./handoff.ts";
import { STATUS } from "../status.ts";
import type { StatusCode } from "../status.ts";

const REPLIES = new Map<StatusCode, readonly [LifecycleEffect]>(
  Object.keys(STATUS).map((code) => {
    const status = Number(code) as StatusCode;
    return [status, [{ type: "reply", status }]];
  }),
);

/** The first effect of every step: the answer to the sender of the event. */
export const RECEIVED: LifecycleEffect = { type: "reply", status: 100 };

/** Refuses: the same state, and the reason's status for the sender. */
export function refused(state: Handoff | undefined, status: StatusCode): Step {
  return { state, effects: REPLIES.get(status)! };
}

/** A change that concerns nobody else. */
export function noted(state: Handoff): Step {
  return { state, effects: REPLIES.get(100)! };
}
