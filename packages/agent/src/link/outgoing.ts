import { WaybillError } from "@waybill/protocol";
import type { Envelope } from "@waybill/protocol";
import type { Clock } from "@waybill/protocol/wire";
import { deferred } from "../delegating/deferred.ts";

/** Something that an agent has sent and that its hub has not confirmed. */
export interface Unconfirmed {
  readonly kind: Envelope["kind"];
  readonly handoffId: string;
}

/** Tracks what an agent is sending: it waits for the hub's receipts before it disconnects. */
export class Outgoing {
  readonly #pending = new Map<Promise<unknown>, Unconfirmed>();
  /** What the hub did not confirm while the agent was stopping. */
  #failed: Unconfirmed[] = [];

  /** Counts as being sent until `work` has settled. */
  async track<Value>({ kind, handoffId }: Unconfirmed, work: Promise<Value>): Promise<Value> {
    const said = { kind, handoffId };
    this.#pending.set(work, said);
    try {
      return await work;
    } catch (error) {
      // Every other error is the hub's answer: a refusal.
      if (WaybillError.is(error, 503) || WaybillError.is(error, 504)) this.#failed.push(said);
      throw error;
    } finally {
      this.#pending.delete(work);
    }
  }

  /**
   * Waits until the hub has answered everything, at the latest until `until`; returns what it has not
   * confirmed.
   */
  async settle(clock: Clock, until: number): Promise<Unconfirmed[]> {
    this.#failed = [];
    let isOver = false;
    const over = deferred<void>();
    const disarm = clock.setTimer(until, () => {
      isOver = true;
      over.resolve();
    });
    while (this.#pending.size > 0 && !isOver)
      await Promise.race([Promise.allSettled(this.#pending.keys()), over.promise]);
    disarm();
    const unconfirmed = [...this.#failed, ...this.#pending.values()];
    const byName = unconfirmed.map((each) => [`${each.kind} ${each.handoffId}`, each] as const);
    return [...new Map(byName).values()];
  }
}
