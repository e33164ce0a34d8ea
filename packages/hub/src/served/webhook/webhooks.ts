/// <reference types="node" />
import { WaybillError } from "@waybill/protocol";
import { readPushAnswer, writePush } from "@waybill/protocol/api";
import type { PushAnswer } from "@waybill/protocol/api";
import type { Delivery } from "../../hub-api.ts";
import type { HubServer } from "../../open-hub.ts";
import type { Budgets } from "../budgets.ts";
import type { HubLogger } from "../log.ts";
import { placeOf, post } from "./reach.ts";
import { WebhookLine } from "./webhook-line.ts";

export interface WebhooksOptions {
  readonly hub: HubServer;
  readonly budgets: Budgets;
  readonly innerInboxes: readonly string[];
  readonly logger: HubLogger | undefined;
}

/** One agent with an inbox, while nothing else of it is attached. */
interface Seat {
  line: WebhookLine | undefined;
  inbox: string | undefined;
  /** Something has happened to the agent since the seat was taken: look again before it is left. */
  isOutdated: boolean;
  wake: () => void;
}

const PAGE = 100;
const CREDIT = 16;
const INSTANCE = "webhook";
const ANSWER_BYTES_BESIDE_ENVELOPE = 64 * 1024;

/** Pushes deliveries to the agents that have an inbox and are not there by themselves. */
export class Webhooks {
  readonly #options: WebhooksOptions;
  readonly #seats = new Map<string, Seat>();
  readonly #closing = new AbortController();
  readonly #cut = new AbortController();
  #unwatch: () => void = () => undefined;

  constructor(options: WebhooksOptions) {
    this.#options = options;
  }

  get count(): number {
    return [...this.#seats.values()].filter(({ line }) => line !== undefined).length;
  }

  /** Everybody whose manifest names an inbox, from the store: a restart forgets nobody. */
  async start(): Promise<void> {
    const { operator } = this.#options.hub;
    this.#unwatch = operator.watch((news) => {
      const { event, agent } = news;
      if (agent === undefined) return;
      if (event === "published" || event === "detached") this.#noted(agent, event);
    });
    for (let after: string | undefined; ;) {
      const page = await operator.agents({ after, limit: PAGE });
      for (const { agent, manifest } of page) {
        if (manifest.inbox !== undefined) this.#noted(agent, "detached");
      }
      if (page.length < PAGE) return;
      after = page.at(-1)!.agent;
    }
  }

  async close(): Promise<void> {
    this.#unwatch();
    this.#closing.abort();
    const cut = setTimeout(() => this.#cut.abort(), this.#options.budgets.limits.closeMs);
    const seats = [...this.#seats.values()];
    for (const { wake } of seats) wake();
    await Promise.all(seats.flatMap(({ line }) => (line === undefined ? [] : [line.drain()])));
    clearTimeout(cut);
    this.#cut.abort();
  }

  #noted(agent: string, event: "published" | "detached"): void {
    if (this.#closing.signal.aborted) return;
    const seat = this.#seats.get(agent);
    if (seat === undefined) {
      this.#sit(agent).catch((error: unknown) => this.#failed(agent, error));
      return;
    }
    seat.isOutdated = true;
    if (event === "published")
      this.#renew(agent, seat).catch((error: unknown) => this.#failed(agent, error));
  }

  /** A new manifest may name another inbox, or the same one in the hope that it works now. */
  async #renew(agent: string, seat: Seat): Promise<void> {
    const inbox = await this.#inboxOf(agent);
    if (inbox !== seat.inbox) seat.line?.end(undefined);
    seat.wake();
  }

  async #sit(agent: string): Promise<void> {
    const seat: Seat = {
      line: undefined,
      inbox: undefined,
      isOutdated: true,
      wake: () => undefined,
    };
    this.#seats.set(agent, seat);
    try {
      for (let failures = 0; !this.#closing.signal.aborted;) {
        seat.isOutdated = false;
        seat.inbox = await this.#inboxOf(agent);
        const isFree = this.#options.hub.operator.instanceOf(agent) === undefined;
        if (seat.inbox === undefined || !isFree) {
          if (seat.isOutdated) continue;
          return;
        }
        const failure = await this.#serve(agent, seat, seat.inbox);
        if (failure === undefined) continue;
        failures = failure.isFirst ? 1 : failures + 1;
        this.#failed(agent, failure.reason);
        await this.#sleep(seat, failures);
      }
    } finally {
      this.#seats.delete(agent);
    }
  }

  /** Until something else of the agent attaches, or the inbox fails: it is asked before it is relied on. */
  async #serve(
    agent: string,
    seat: Seat,
    inbox: string,
  ): Promise<{ readonly reason: WaybillError; readonly isFirst: boolean } | undefined> {
    const { hub, budgets } = this.#options;
    const line = new WebhookLine({
      push: (deliveries) => this.#push(agent, inbox, deliveries),
      submit: (envelope) => hub.submit(envelope),
      failed: (error) => this.#failed(agent, error),
      budgets,
    });
    try {
      await this.#push(agent, inbox, []);
      const attachment = await hub.operator.attachWhereFree(
        { agent, instance: INSTANCE, credit: CREDIT },
        (delivery) => line.deliver(delivery),
      );
      if (attachment === undefined) return undefined;
      if (this.#closing.signal.aborted) {
        await attachment.close();
        return undefined;
      }
      seat.line = line;
      line.attach(attachment);
      const reason = await line.ended;
      if (reason === undefined || reason.status === 409) return undefined;
      return { reason, isFirst: line.hasPushed };
    } catch (error) {
      return { reason: WaybillError.from(error), isFirst: false };
    } finally {
      seat.line = undefined;
    }
  }

  async #push(agent: string, inbox: string, deliveries: readonly Delivery[]): Promise<PushAnswer> {
    const { hub, budgets, innerInboxes } = this.#options;
    const { operator } = hub;
    const { envelopeBytes } = operator.limits;
    const body = writePush({ hub: hub.id, agent, deliveries });
    const { pathname, search } = placeOf(inbox, innerInboxes);
    const authorization = operator.signRequest({
      to: agent,
      method: "POST",
      path: pathname + search,
      body,
    });
    const signal = AbortSignal.any([
      this.#cut.signal,
      AbortSignal.timeout(budgets.limits.webhookMs),
    ]);
    const answer = await post(
      inbox,
      { body, authorization, signal },
      { innerInboxes, answerBytes: envelopeBytes + ANSWER_BYTES_BESIDE_ENVELOPE },
    );
    try {
      return readPushAnswer(answer, envelopeBytes);
    } catch (error) {
      // It has come all the same: many answer with a page, or an "ok".
      if (deliveries.length > 0) this.#failed(agent, error);
      return {};
    }
  }

  async #inboxOf(agent: string): Promise<string | undefined> {
    return (await this.#options.hub.operator.presence(agent)).manifest.inbox;
  }

  async #sleep(seat: Seat, failures: number): Promise<void> {
    const { webhookWaitMs, webhookMostWaitMs } = this.#options.budgets.limits;
    const most = Math.min(webhookMostWaitMs, webhookWaitMs * 2 ** (failures - 1));
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, most / 2 + (Math.random() * most) / 2);
      timer.unref();
      seat.wake = () => {
        clearTimeout(timer);
        resolve();
      };
      if (this.#closing.signal.aborted) seat.wake();
    });
    seat.wake = () => undefined;
  }

  /** Only where and what kind it is: what an inbox answers is its own. */
  #failed(agent: string, error: unknown): void {
    const { status, code } = WaybillError.from(error);
    this.#options.logger?.warn({ agent, status, code }, "inbox");
  }
}
