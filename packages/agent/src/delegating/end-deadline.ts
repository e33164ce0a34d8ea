import { WaybillError } from "@waybill/protocol";
import type { HandoffEnvelope } from "@waybill/protocol";
import type { Clock } from "@waybill/protocol/wire";
import { deferred } from "./deferred.ts";

/**
 * How long after the deadline the hub's notice may take. Then the delegator stops waiting, whatever
 * has happened to the hub.
 */
export const END_REPORTED_WITHIN_MS = 1_000;

/** Limits the wait for the end of a handoff. */
export class EndDeadline {
  /** Rejects if the hub has not reported the end in time. */
  readonly overdue: Promise<never>;
  readonly #overdue = deferred<never>();
  readonly #clock: Clock;
  readonly #passed: (error: WaybillError) => void;
  #disarm: (() => void) | undefined;

  constructor(clock: Clock, passed: (error: WaybillError) => void) {
    this.#clock = clock;
    this.#passed = passed;
    this.overdue = this.#overdue.promise;
  }

  /** Waits for the end of this handoff; `lateMs` from now if its deadline has passed. */
  arm(handoff: HandoffEnvelope, lateMs: number = END_REPORTED_WITHIN_MS): void {
    this.disarm();
    const reported = Date.parse(handoff.deadline) + END_REPORTED_WITHIN_MS;
    const at = Math.max(reported, this.#clock.now() + lateMs);
    this.#disarm = this.#clock.setTimer(at, () => {
      const error = endNotReported(handoff);
      this.#overdue.reject(error);
      this.#passed(error);
    });
  }

  disarm(): void {
    this.#disarm?.();
  }
}

function endNotReported({ handoff_id: id, deadline, to }: HandoffEnvelope): WaybillError {
  const recipient = typeof to === "string" ? to : `whoever has ${to.capability}`;
  return new WaybillError(
    504,
    `The deadline ${deadline} has passed, and the hub has not reported how the handoff ${id} to ${recipient} ended; the work may have been done. Attach to it by its id to learn the outcome once the hub answers.`,
  );
}
