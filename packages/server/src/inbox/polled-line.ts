/// <reference types="node" />
import { charactersOf } from "@waybill/hub/serving";
import type { Attachment, Delivery } from "@waybill/hub";
import { WaybillError } from "@waybill/protocol";
import type { Budgets } from "../budgets.ts";

interface Kept {
  readonly delivery: Delivery;
  /** The answer that it was sent with; 0 while it waits. */
  batch: number;
}

export interface Polled {
  readonly cursor: string;
  readonly deliveries: readonly Delivery[];
}

const DELIVERIES_AT_ONCE = 100;
const CHARACTERS_AT_ONCE = 4 * 1024 * 1024;

/** The queue of one agent that polls: each delivery is kept until the next poll confirms it. */
export class PolledLine {
  readonly instance: string;
  readonly ended: Promise<WaybillError | undefined>;
  readonly #id: string;
  readonly #budgets: Budgets;
  readonly #kept = new Map<string, Kept>();
  #attachment: Attachment | undefined;
  #characters = 0;
  #batch = 0;
  #wake: (() => void) | undefined;
  #idle: NodeJS.Timeout | undefined;
  #settle: (reason: WaybillError | undefined) => void = () => undefined;
  #reason: WaybillError | undefined;
  #isOpen = true;

  constructor(id: string, instance: string, budgets: Budgets) {
    this.#id = id;
    this.instance = instance;
    this.#budgets = budgets;
    this.ended = new Promise((resolve) => (this.#settle = resolve));
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  get attachment(): Attachment {
    return this.#attachment!;
  }

  attach(attachment: Attachment): void {
    this.#attachment = attachment;
    attachment.closed.then(
      (reason) => this.end(reason),
      (error: unknown) => this.end(WaybillError.from(error)),
    );
    this.#rest();
  }

  deliver(delivery: Delivery): void {
    const key = keyOf(delivery);
    const before = this.#kept.get(key);
    // It has not been confirmed yet, so the hub repeats it: the next poll will have it anyway.
    if (before !== undefined) return;
    this.#kept.set(key, { delivery, batch: 0 });
    this.#characters += charactersOf(delivery);
    const { unsentBytes } = this.#budgets.limits;
    if (this.#characters > unsentBytes) {
      return this.end(
        this.#budgets.refuse(
          "unsentBytes",
          `More than ${unsentBytes} characters wait to be fetched. They stay in the inbox: poll again to get them.`,
        ),
      );
    }
    this.#wake?.();
  }

  /** Confirms up to the cursor, then returns what waits, or waits for it. */
  async poll(cursor: string | undefined, waitMs: number, signal: AbortSignal): Promise<Polled> {
    this.#confirm(cursor);
    // A second poll replaces the one before it.
    this.#wake?.();
    clearTimeout(this.#idle);
    try {
      if (!this.#hasWaiting() && this.#isOpen) await this.#wait(waitMs, signal);
      if (this.#reason !== undefined) throw this.#reason;
      return this.#take(signal.aborted);
    } finally {
      this.#rest();
    }
  }

  #confirm(cursor: string | undefined): void {
    const [id, number] = cursor?.split(".") ?? [];
    const upTo = id === this.#id ? Number(number) : 0;
    for (const [key, kept] of this.#kept) {
      if (kept.batch === 0) continue;
      if (kept.batch > upTo) kept.batch = 0;
      else {
        this.#kept.delete(key);
        this.#characters -= charactersOf(kept.delivery);
        if (kept.delivery.type !== "stop") this.#attachment?.seen(kept.delivery.id);
      }
    }
  }

  #hasWaiting(): boolean {
    for (const { batch } of this.#kept.values()) if (batch === 0) return true;
    return false;
  }

  #wait(waitMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", done);
        if (this.#wake === wake) this.#wake = undefined;
        resolve();
      };
      // Deliveries of the same turn are sent along.
      const wake = () => void setImmediate(done);
      const timer = setTimeout(done, waitMs);
      signal.addEventListener("abort", done, { once: true });
      this.#wake = wake;
    });
  }

  #take(isGone: boolean): Polled {
    const deliveries: Delivery[] = [];
    let characters = 0;
    const batch = isGone ? 0 : ++this.#batch;
    for (const kept of isGone ? [] : this.#kept.values()) {
      if (kept.batch !== 0) continue;
      if (deliveries.length >= DELIVERIES_AT_ONCE || characters >= CHARACTERS_AT_ONCE) break;
      kept.batch = batch;
      characters += charactersOf(kept.delivery);
      deliveries.push(kept.delivery);
    }
    return { cursor: `${this.#id}.${batch}`, deliveries };
  }

  /** An agent that stops polling is regarded as gone. */
  #rest(): void {
    clearTimeout(this.#idle);
    if (!this.#isOpen) return;
    this.#idle = setTimeout(() => this.end(undefined), this.#budgets.limits.pollIdleMs);
    this.#idle.unref();
  }

  end(reason: WaybillError | undefined): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#reason = reason;
    clearTimeout(this.#idle);
    this.#wake?.();
    this.#settle(reason);
    this.#attachment?.close().catch(() => undefined);
  }
}

function keyOf(delivery: Delivery): string {
  return delivery.type === "stop"
    ? `stop ${delivery.handoff_id} ${delivery.attempt}`
    : `${delivery.type} ${delivery.id}`;
}
