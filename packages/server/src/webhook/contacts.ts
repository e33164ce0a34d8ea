import { BoundedCache, inboxContactAt } from "@waybill/protocol/wire";
import { WaybillError } from "@waybill/protocol";
import type { InboxFailure } from "@waybill/protocol/wire";
import type { DoorName, Budgets } from "../budgets.ts";
import { Rates } from "../access/rates.ts";

/** The outcome of challenging an inbox. */
export interface Contact {
  /** Whether a connection to an address is allowed: many names may resolve to one. */
  admits(address: string): WaybillError | undefined;
  /** It has echoed the challenge: it is an inbox, and is free of charge. */
  echoed(): void;
  /** It has taken deliveries: its failures are forgotten. */
  delivered(): void;
  failed(now: number): void;
}

interface Known extends InboxFailure {
  /** It has echoed a challenge before. */
  readonly isInbox: boolean;
}

const KEPT = 10_000;
const MINUTE_S = 60;
const EVERYBODY = "";

/**
 * Decides when an inbox may be contacted. Manifests may name anybody's address, so requests to servers
 * that have not echoed are bounded: for each agent, each host, each address behind it, and in all.
 */
export class Contacts {
  readonly #budgets: Budgets;
  readonly #known = new BoundedCache<string, Known>(KEPT);
  readonly #agents: Rates;
  readonly #hosts: Rates;
  readonly #all: Rates;

  constructor(budgets: Budgets) {
    const { limits } = budgets;
    this.#budgets = budgets;
    this.#agents = new Rates(limits.probesPerAgent / MINUTE_S, limits.probeBurstPerAgent);
    this.#hosts = new Rates(limits.probesPerHost / MINUTE_S, limits.probeBurstPerHost);
    this.#all = new Rates(limits.probesPerHub / MINUTE_S, limits.probeBurstPerHub);
  }

  /** How long an inbox has to be left alone; 0 if it may be contacted now. */
  waitMs(agent: string, inbox: string, now: number): number {
    const known = this.#known.get(keyOf(agent, inbox));
    const resting = inboxContactAt(known, inbox, this.#waitsOf(known)) - now;
    if (resting > 0) return resting;
    for (const [budget, rates, key] of this.#payers(agent, inbox)) {
      const early = rates.earlyMs(key, now);
      if (early === 0) continue;
      this.#budgets.hit(budget);
      return early;
    }
    return 0;
  }

  #waitsOf(known: Known | undefined): { firstMs: number; mostMs: number } {
    const { webhookWaitMs, webhookMostWaitMs, strangeInboxMostWaitMs } = this.#budgets.limits;
    const mostMs = known?.isInbox === true ? webhookMostWaitMs : strangeInboxMostWaitMs;
    return { firstMs: webhookWaitMs, mostMs };
  }

  #payers(agent: string, inbox: string): readonly (readonly [DoorName, Rates, string])[] {
    return [
      ["probesPerAgent", this.#agents, agent],
      ["probesPerHost", this.#hosts, hostOf(inbox)],
      ["probesPerHub", this.#all, EVERYBODY],
    ];
  }

  /** Begins a contact. It is charged until the inbox has echoed. */
  begin(agent: string, inbox: string, now: number): Contact {
    const paid: [Rates, string][] = [];
    const pay = (rates: Rates, key: string) => {
      rates.charge(key, now, 1);
      paid.push([rates, key]);
    };
    for (const [, rates, key] of this.#payers(agent, inbox)) pay(rates, key);
    const key = keyOf(agent, inbox);
    return {
      admits: (address) => {
        if (address === hostOf(inbox)) return undefined;
        const early = this.#hosts.take(address, now);
        if (early > 0) {
          this.#budgets.hit("probesPerHost");
          const message = `The address ${address} has been asked often enough, under one name or another.`;
          return new WaybillError(301, message, { retryAfterMs: early });
        }
        paid.push([this.#hosts, address]);
        return undefined;
      },
      echoed: () => {
        for (const [rates, payer] of paid.splice(0)) rates.refund(payer, now, 1);
        this.#known.set(key, { ...(this.#known.get(key) ?? never(inbox)), isInbox: true });
      },
      delivered: () => this.#known.set(key, { ...never(inbox), isInbox: true }),
      failed: (at) => {
        const { failures, isInbox } = this.#known.get(key) ?? never(inbox);
        this.#known.set(key, { inbox, failures: failures + 1, at, isInbox });
      },
    };
  }
}

function never(inbox: string): Known {
  return { inbox, failures: 0, at: -Infinity, isInbox: false };
}

function keyOf(agent: string, inbox: string): string {
  return `${agent} ${inbox}`;
}

function hostOf(inbox: string): string {
  const { hostname } = new URL(inbox);
  return hostname.replace(/^\[|\]$|\.$/g, "");
}
