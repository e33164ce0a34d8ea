/// <reference types="node" />
import { charactersOf } from "@waybill/hub/serving";
import type { Attachment, Delivery } from "@waybill/hub";
import { WaybillError } from "@waybill/protocol";
import type { PushAnswer } from "@waybill/protocol/wire";
import type { Budgets } from "../budgets.ts";

export interface LineOptions {
  /** Posts deliveries and returns the answer. */
  readonly push: (deliveries: readonly Delivery[]) => Promise<PushAnswer>;
  /** Processes an envelope in an answer. */
  readonly submit: (envelope: string) => Promise<unknown>;
  readonly failed: (error: unknown) => void;
  readonly budgets: Budgets;
}

const DELIVERIES_AT_ONCE = 100;
const CHARACTERS_AT_ONCE = 1024 * 1024;

/** Delivers to one agent by posting, one request at a time. */
export class WebhookLine {
  /** Rejects with the reason when it ends; resolves if that was requested. */
  readonly ended: Promise<WaybillError | undefined>;
  readonly #options: LineOptions;
  #settle: (reason: WaybillError | undefined) => void = () => undefined;
  #attachment: Attachment | undefined;
  #waiting: Delivery[] = [];
  #characters = 0;
  #pushing: Promise<void> | undefined;
  #isOpen = true;
  #isDraining = false;

  constructor(options: LineOptions) {
    this.#options = options;
    this.ended = new Promise((resolve) => (this.#settle = resolve));
  }

  attach(attachment: Attachment): void {
    this.#attachment = attachment;
    attachment.closed.then(
      (reason) => this.end(reason),
      (error: unknown) => this.end(WaybillError.from(error)),
    );
    this.#go();
  }

  deliver(delivery: Delivery): void {
    if (!this.#isOpen) return;
    this.#waiting.push(delivery);
    this.#characters += charactersOf(delivery);
    const { budgets } = this.#options;
    const { unsentBytes } = budgets.limits;
    if (this.#characters > unsentBytes) {
      const message = `More than ${unsentBytes} characters wait to be posted; they stay in the inbox.`;
      return this.end(budgets.refuse("unsentBytes", message));
    }
    this.#go();
  }

  #go(): void {
    if (this.#attachment === undefined) return;
    this.#pushing ??= this.#pushAll().finally(() => (this.#pushing = undefined));
  }

  async #pushAll(): Promise<void> {
    // Deliveries of the same turn are sent along.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#isOpen && !this.#isDraining && this.#waiting.length > 0) {
      const batch = this.#take();
      try {
        const answer = await this.#options.push(batch);
        await this.#took(batch, answer);
      } catch (error) {
        return this.end(WaybillError.from(error));
      }
    }
  }

  #take(): Delivery[] {
    let count = 0;
    let characters = 0;
    while (count < Math.min(this.#waiting.length, DELIVERIES_AT_ONCE)) {
      if (count > 0 && characters >= CHARACTERS_AT_ONCE) break;
      characters += charactersOf(this.#waiting[count++]!);
    }
    this.#characters -= characters;
    return this.#waiting.splice(0, count);
  }

  /**
   * Its answer counts whatever is attached by now: the agent has the deliveries, and its envelopes are
   * signed.
   */
  async #took(batch: readonly Delivery[], { taken = [], envelopes = [] }: PushAnswer) {
    const attachment = this.#attachment!;
    for (const each of taken) attachment.taken(each.handoff_id, each.attempt);
    for (const each of batch) if (each.type !== "stop") attachment.seen(each.id);
    for (const envelope of envelopes) {
      await this.#options.submit(envelope).catch(this.#options.failed);
    }
  }

  end(reason: WaybillError | undefined): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#settle(reason);
    this.#attachment?.close().catch(() => undefined);
  }

  /** Waits for the request under way, and ends. */
  async drain(): Promise<void> {
    this.#isDraining = true;
    await this.#pushing;
    this.end(undefined);
  }
}
