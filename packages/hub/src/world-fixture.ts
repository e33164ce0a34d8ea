import {
  createHandoff,
  createReply,
  digestOfJws,
  generateKey,
  newId,
  parseEnvelope,
  readCompact,
  signEnvelope,
  signManifest,
} from "@waybill/protocol";
import type {
  CapabilityInput,
  Envelope,
  HandoffEnvelope,
  HandoffInput,
  PrivateKey,
  ReceiptBody,
  ReplyInput,
  ResultBody,
  WaybillError,
} from "@waybill/protocol";
import { signHello } from "@waybill/protocol/wire";
import type { HubOptions } from "./engine/options.ts";
import type { Attachment, AttachRequest, Delivery } from "@waybill/protocol/wire";
import { memoryStore } from "./memory-store.ts";
import { openHub } from "./open-hub.ts";
import type { HubServer } from "./open-hub.ts";
import { StillClock } from "./still-clock-fixture.ts";
import type { Store } from "./store.ts";

interface Bodies {
  readonly receipt: ReceiptBody;
  readonly result: ResultBody;
}

export type Offer = Extract<Delivery, { type: "offer" }>;

export interface Member {
  readonly agent: string;
  readonly key: PrivateKey;
}

export interface AttachedMember extends Member {
  readonly line: Attachment;
  readonly deliveries: Delivery[];
  readonly closed: Promise<WaybillError | undefined>;
}

/** A store of which a test makes single methods fail. */
export class FailingStore {
  readonly store: Store;
  #failing: { readonly method: string; readonly error: Error; left: number } | undefined;

  constructor(store: Store = memoryStore()) {
    this.store = new Proxy(store, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== "function") return value;
        return (...given: unknown[]) => {
          const failing = this.#failing;
          if (failing?.method === name && failing.left > 0) {
            failing.left--;
            return Promise.reject(failing.error);
          }
          return (value as (...all: unknown[]) => unknown).apply(target, given);
        };
      },
    });
  }

  fail(method: keyof Store, error: Error, times = 1): void {
    this.#failing = { method, error, left: times };
  }
}

/** A hub over a store in memory, at a time that stands still, and its agents as they speak on the wire. */
export class World {
  readonly clock: StillClock;
  readonly hub: HubServer;
  readonly store: Store;
  readonly key: PrivateKey;

  private constructor(hub: HubServer, clock: StillClock, store: Store, key: PrivateKey) {
    this.hub = hub;
    this.clock = clock;
    this.store = store;
    this.key = key;
  }

  static async open(
    options: Partial<HubOptions> = {},
    clock: StillClock = new StillClock(),
  ): Promise<World> {
    const { store = memoryStore(), key = generateKey() } = options;
    const hub = await openHub({ ...options, store, clock, key });
    return new World(hub, clock, store, key);
  }

  async publish(agent: string, capabilities: CapabilityInput[] = []): Promise<Member> {
    const member = { agent, key: generateKey() };
    await this.hub.publish(signManifest({ agent_id: agent, capabilities }, member.key));
    return member;
  }

  async attach({ agent, key }: Member, credit = 1, instance = "one"): Promise<AttachedMember> {
    const deliveries: Delivery[] = [];
    const request = this.attachRequest({ agent, key }, credit, instance);
    const line = await this.hub.attach(request, (delivery) => deliveries.push(delivery));
    await settled();
    return { agent, key, line, deliveries, closed: line.closed };
  }

  /** The next hub over the same store, at the same time. */
  async restarted(options: Partial<HubOptions> = {}): Promise<World> {
    await this.hub.close();
    return World.open({ store: this.store, key: this.key, ...options }, this.clock);
  }

  /** Moves the clock on, and lets everything follow that is due by then. */
  async pass(ms: number): Promise<void> {
    this.clock.advance(ms);
    await settled();
  }

  attachRequest({ agent, key }: Member, credit = 1, instance = "one"): AttachRequest {
    const { id: to, domain } = this.hub;
    const claim = { from: agent, to, domain, instance, id: newId(), at: this.clock.now() };
    return { agent, credit, instance, proof: signHello(claim, key) };
  }

  handoff(from: string, more: Partial<HandoffInput> = {}): HandoffEnvelope {
    const { domain } = this.hub;
    const body = { capability: "work" };
    return createHandoff(
      { from, domain, body, ...(more.deadline === undefined && { timeoutMs: 60_000 }), ...more },
      { now: () => this.clock.now(), newId: () => newId() },
    );
  }

  async handOff({ agent, key }: Member, more?: Partial<HandoffInput>): Promise<HandoffEnvelope> {
    const handoff = this.handoff(agent, more);
    await this.submit(handoff, key);
    return handoff;
  }

  async submit(envelope: Envelope, key: PrivateKey): Promise<string> {
    const receipt = await this.hub.submit(signEnvelope(envelope, key));
    await settled();
    return receipt;
  }

  /** What an agent signs about an attempt that it was offered. */
  reply<Kind extends "receipt" | "result">(
    kind: Kind,
    { agent: from }: Member,
    { envelope, attempt }: Offer,
    body: Bodies[Kind],
  ): Envelope {
    const re = digestOfJws(envelope);
    const input = { kind, from, attempt, re, body } as unknown as ReplyInput<Kind>;
    return createReply(handoffIn({ envelope }), input, {
      now: () => this.clock.now(),
      newId: () => newId(),
    });
  }

  async receipt(member: Member, offer: Offer, body: ReceiptBody): Promise<void> {
    await this.submit(this.reply("receipt", member, offer, body), member.key);
  }

  async result(member: Member, offer: Offer, body: ResultBody): Promise<void> {
    await this.submit(this.reply("result", member, offer, body), member.key);
  }
}

export function handoffIn({ envelope }: Pick<Offer, "envelope">): HandoffEnvelope {
  return parseEnvelope(readCompact(envelope).payload) as HandoffEnvelope;
}

export function offersOf({ deliveries }: AttachedMember): Offer[] {
  return deliveries.filter((delivery) => delivery.type === "offer");
}

/** Everything in memory that was on its way has arrived. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve));
}
