/// <reference types="node" />
import { randomBytes } from "node:crypto";
import type { HubServer } from "@waybill/hub";
import { WaybillError } from "@waybill/protocol";
import { checkEcho, readPushAnswer, writePush } from "@waybill/protocol/wire";
import type { Push } from "@waybill/protocol/wire";
import type { Budgets } from "../budgets.ts";
import { FairSlots } from "../access/fair-slots.ts";
import type { HubLogger } from "../log.ts";
import { Contacts } from "./contacts.ts";
import type { Contact } from "./contacts.ts";
import { placeOf, post } from "./reach.ts";
import type { Posted, ReachOptions } from "./reach.ts";
import { WebhookLine } from "./webhook-line.ts";

export interface WebhooksOptions {
  readonly hub: HubServer;
  readonly budgets: Budgets;
  readonly innerInboxes: readonly string[];
  readonly logger: HubLogger | undefined;
}

/** One agent with an inbox, while it is not attached otherwise. */
interface Seat {
  line: WebhookLine | undefined;
  inbox: string | undefined;
  /** Something has happened to the agent since: check again before leaving. */
  isOutdated: boolean;
  wake: () => void;
}

type Pushed = Pick<Push, "deliveries" | "challenge"> & Pick<ReachOptions, "pinned" | "admits">;

/** Delivers to an inbox, once it has echoed. */
interface Delivering {
  readonly agent: string;
  readonly seat: Seat;
  readonly inbox: string;
  readonly pinned: string | undefined;
  readonly contact: Contact;
  readonly kids: readonly string[];
}

const PAGE = 100;
const CHALLENGE_BYTES = 24;
const CREDIT = 16;
const INSTANCE = "webhook";
const ANSWER_BYTES_BESIDE_ENVELOPE = 64 * 1024;

/** Pushes deliveries to the agents that have an inbox and are not attached otherwise. */
export class Webhooks {
  readonly #options: WebhooksOptions;
  readonly #seats = new Map<string, Seat>();
  readonly #closing = new AbortController();
  readonly #cut = new AbortController();
  readonly #contacts: Contacts;
  readonly #slots: FairSlots;
  #unwatch: () => void = () => undefined;

  constructor(options: WebhooksOptions) {
    const { budgets } = options;
    this.#options = options;
    this.#contacts = new Contacts(budgets);
    const { webhooksAtOnce } = budgets.limits;
    this.#slots = new FairSlots(webhooksAtOnce, {
      waited: () => budgets.hit("webhooksAtOnce"),
      // Each push waits for the network.
      begin: (_agent, push) => push(),
    });
  }

  get count(): number {
    return [...this.#seats.values()].filter(({ line }) => line !== undefined).length;
  }

  /** Every agent whose manifest names an inbox, read from the store, so that a restart loses none. */
  async start(): Promise<void> {
    const { operator } = this.#options.hub;
    this.#unwatch = operator.watch((news) => {
      const { event, agent } = news;
      if (agent === undefined) return;
      if (event === "published" || event === "detached") this.#noted(agent, event);
    });
    for (let after: string | undefined; ;) {
      const page = await operator.agents({ after, limit: PAGE });
      for (const { agent, inbox } of page) {
        if (inbox !== undefined) this.#noted(agent, "detached");
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

  /** A new manifest may name another inbox. With the same one, the current delay stays. */
  async #renew(agent: string, seat: Seat): Promise<void> {
    const inbox = await this.#inboxOf(agent);
    if (inbox === seat.inbox) return;
    seat.line?.end(undefined);
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
      while (!this.#closing.signal.aborted) {
        seat.isOutdated = false;
        seat.inbox = await this.#inboxOf(agent);
        const { operator } = this.#options.hub;
        const isFree = operator.instanceOf(agent) === undefined;
        const kids = await operator.currentKids(agent);
        // An agent without a valid key gets no deliveries, not even in its inbox.
        if (seat.inbox === undefined || !isFree || kids.length === 0) {
          if (seat.isOutdated) continue;
          return;
        }
        const waitMs = this.#contacts.waitMs(agent, seat.inbox, Date.now());
        if (waitMs > 0) await this.#sleep(seat, waitMs);
        else await this.#serve(agent, seat, seat.inbox, kids);
      }
    } finally {
      this.#seats.delete(agent);
    }
  }

  /** Until the agent attaches otherwise, or the inbox fails. The inbox is challenged first. */
  async #serve(agent: string, seat: Seat, inbox: string, kids: readonly string[]): Promise<void> {
    const contact = this.#contacts.begin(agent, inbox, Date.now());
    const failed = (error: unknown) => {
      contact.failed(Date.now());
      this.#failed(agent, error);
    };
    try {
      const pinned = await this.#ask(agent, inbox, contact);
      const reason = await this.#deliver({ agent, seat, inbox, pinned, contact, kids });
      // Another connection or a new key of the agent is no fault of the inbox.
      const isItsOwn = reason?.status === 409 || reason?.status === 401;
      if (reason !== undefined && !isItsOwn) failed(reason);
    } catch (error) {
      failed(error);
    } finally {
      seat.line = undefined;
    }
  }

  /** Challenges an inbox to accept the agent's deliveries. Returns the address that has answered. */
  async #ask(agent: string, inbox: string, contact: Contact): Promise<string | undefined> {
    const challenge = randomBytes(CHALLENGE_BYTES).toString("base64url");
    const { admits } = contact;
    const { text, address } = await this.#post(agent, inbox, { deliveries: [], challenge, admits });
    checkEcho(challenge, readPushAnswer(text, this.#options.hub.operator.limits.envelopeBytes));
    contact.echoed();
    return address;
  }

  async #deliver({
    agent,
    seat,
    inbox,
    pinned,
    contact,
    kids,
  }: Delivering): Promise<WaybillError | undefined> {
    const { hub, budgets } = this.#options;
    const { operator } = hub;
    const line = new WebhookLine({
      push: async (deliveries) => {
        const { text } = await this.#post(agent, inbox, { deliveries, pinned });
        contact.delivered();
        try {
          return readPushAnswer(text, operator.limits.envelopeBytes);
        } catch (error) {
          // The request has arrived anyway: many servers answer with a page, or an "ok".
          this.#failed(agent, error);
          return {};
        }
      },
      submit: (envelope) => hub.submit(envelope),
      failed: (error) => this.#failed(agent, error),
      budgets,
    });
    const attachment = await operator.attachWhereFree(
      { agent, instance: INSTANCE, credit: CREDIT, kids },
      (delivery) => line.deliver(delivery),
    );
    if (attachment === undefined) return undefined;
    if (this.#closing.signal.aborted) {
      await attachment.close();
      return undefined;
    }
    seat.line = line;
    line.attach(attachment);
    return line.ended;
  }

  async #post(agent: string, inbox: string, { pinned, admits, ...push }: Pushed): Promise<Posted> {
    const { hub, budgets, innerInboxes } = this.#options;
    const { operator } = hub;
    const body = writePush({ hub: hub.id, agent, ...push });
    const { pathname, search } = placeOf(inbox, innerInboxes);
    return this.#slots.run(agent, () => {
      const authorization = operator.signRequest({
        to: agent,
        method: "POST",
        path: pathname + search,
        body,
      });
      const late = AbortSignal.timeout(budgets.limits.webhookMs);
      const signal = AbortSignal.any([this.#cut.signal, late]);
      const answerBytes = operator.limits.envelopeBytes + ANSWER_BYTES_BESIDE_ENVELOPE;
      const reach = { innerInboxes, answerBytes, pinned, admits };
      return post(inbox, { body, authorization, signal }, reach);
    });
  }

  async #inboxOf(agent: string): Promise<string | undefined> {
    return (await this.#options.hub.operator.presence(agent)).inbox;
  }

  /** With jitter, so that not all agents come at once. */
  async #sleep(seat: Seat, ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms + (Math.random() * ms) / 2);
      timer.unref();
      seat.wake = () => {
        clearTimeout(timer);
        resolve();
      };
      if (this.#closing.signal.aborted) seat.wake();
    });
    seat.wake = () => undefined;
  }

  /** Only where and of what kind it is: the answer of an inbox may be private. */
  #failed(agent: string, error: unknown): void {
    const { status, code } = WaybillError.from(error);
    this.#options.logger?.warn({ agent, status, code }, "inbox");
  }
}
