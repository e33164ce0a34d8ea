import { BoundedCache } from "@waybill/protocol/wire";
import type { Operator } from "@waybill/hub";
import { newId, WaybillError } from "@waybill/protocol";
import type { Budgets } from "../budgets.ts";
import type { RateLimits } from "../access/rate-limits.ts";
import { PolledLine } from "./polled-line.ts";

const CREDIT = 1;
const REPLACED_KEPT = 10_000;

/** The connections of agents that poll, each kept from one poll to the next. */
export class Polls {
  readonly #operator: Operator;
  readonly #budgets: Budgets;
  readonly #tolls: RateLimits;
  readonly #lines = new Map<string, PolledLine>();
  readonly #opening = new Map<string, Promise<unknown>>();
  /** Processes that another process has replaced: otherwise they would keep replacing each other. */
  readonly #replaced = new BoundedCache<string, true>(REPLACED_KEPT);

  constructor(operator: Operator, budgets: Budgets, tolls: RateLimits) {
    this.#operator = operator;
    this.#budgets = budgets;
    this.#tolls = tolls;
  }

  /** The connection of this process of the agent, reattached if necessary. */
  async line(
    { agent, kid }: { readonly agent: string; readonly kid: string },
    instance: string,
    credit: number | undefined,
  ): Promise<PolledLine> {
    await this.#opening.get(agent);
    const known = this.#lines.get(agent);
    if (known?.instance === instance && known.isOpen) {
      await this.#operator.stayWith(agent, kid);
      if (credit !== undefined) known.attachment.setCredit(credit);
      return known;
    }
    if (this.#replaced.get(`${agent} ${instance}`)) {
      throw new WaybillError(
        409,
        `Another process acts as ${agent} now. To use this process instead, start it with a new instance.`,
      );
    }
    this.#tolls.attaching(agent);
    this.#tolls.attached(agent);
    const opening = this.#open(agent, kid, instance, credit ?? CREDIT);
    const settled = opening.catch(() => undefined);
    this.#opening.set(agent, settled);
    void settled.then(() => {
      if (this.#opening.get(agent) === settled) this.#opening.delete(agent);
    });
    return opening;
  }

  async #open(agent: string, kid: string, instance: string, credit: number): Promise<PolledLine> {
    const line = new PolledLine(newId(), instance, this.#budgets);
    const attachment = await this.#operator.attach(
      { agent, instance, credit, kids: [kid] },
      (delivery) => line.deliver(delivery),
    );
    line.attach(attachment);
    this.#lines.set(agent, line);
    void line.ended.then((reason) => {
      if (this.#lines.get(agent) === line) this.#lines.delete(agent);
      const isReplaced = reason?.status === 409 && !this.#isHere(agent, instance);
      if (isReplaced) this.#replaced.set(`${agent} ${instance}`, true);
    });
    return line;
  }

  #isHere(agent: string, instance: string): boolean {
    return this.#operator.instanceOf(agent) === instance;
  }

  get count(): number {
    return this.#lines.size;
  }

  /** Answers all waiting polls. */
  close(): void {
    for (const line of this.#lines.values()) line.end(undefined);
  }
}
