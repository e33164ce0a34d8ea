/// <reference types="node" />
import { commitEach, commitOne } from "@waybill/hub/store";
import type { Commit, CommitOutcome } from "@waybill/hub/store";
import { ledgerHistory, memoryStore, openHub } from "@waybill/hub";
import type { HubOptions, HubServer, Store } from "@waybill/hub";
import {
  generateKey,
  newId,
  parseEnvelope,
  readCompact,
  signCompact,
  stringifyJson,
  WaybillError,
} from "@waybill/protocol";
import { checkHistory } from "@waybill/protocol/audit";
import type { PrivateKey } from "@waybill/protocol";
import type { HistoryEntry, HistoryReport } from "@waybill/protocol/audit";
import type { Attachment, Clock, Delivery, Hub } from "@waybill/protocol/wire";
import { createAgent } from "./agent.ts";
import type { Agent, AgentOptions } from "./agent.ts";

/** Waits this short pass by themselves, such as that for an acceptance. */
const MOMENT_MS = 20;

/** A clock that stands still until a test advances it, except for very short waits. */
export class VirtualClock implements Clock {
  #now = 1_800_000_000_000;
  readonly #timers = new Set<{ at: number; callback: () => void }>();

  now(): number {
    return this.#now;
  }

  setTimer(at: number, callback: () => void): () => void {
    if (at <= this.#now + MOMENT_MS) {
      const immediate = setImmediate(() => {
        this.#now = Math.max(this.#now, at);
        callback();
      });
      return () => clearImmediate(immediate);
    }
    const timer = { at, callback };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** Advances the clock from timer to timer, and lets everything run that each one triggers. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    await settled();
    for (;;) {
      const next = [...this.#timers].reduce<{ at: number; callback: () => void } | undefined>(
        (first, each) => (each.at <= end && each.at < (first?.at ?? Infinity) ? each : first),
        undefined,
      );
      if (next === undefined) break;
      this.#timers.delete(next);
      this.#now = Math.max(this.#now, next.at);
      next.callback();
      await settled();
    }
    this.#now = end;
    await settled();
  }
}

/** Settles when everything in memory has been delivered. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 40; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** A hub that can be taken down and reopened over the same store, and its agents. */
export class World {
  readonly clock: VirtualClock = new VirtualClock();
  readonly store: Store = memoryStore();
  readonly hubKey: PrivateKey = generateKey();
  readonly keys: Map<string, PrivateKey> = new Map();
  readonly errors: unknown[] = [];
  readonly extra: HistoryEntry[] = [];
  readonly #options: Partial<HubOptions>;
  #server: HubServer | undefined;

  constructor(options: Partial<HubOptions> = {}) {
    this.#options = options;
  }

  static async open(options: Partial<HubOptions> = {}): Promise<World> {
    const world = new World(options);
    await world.up();
    return world;
  }

  get server(): HubServer {
    if (this.#server === undefined) throw new WaybillError(503, "The hub is down.");
    return this.#server;
  }

  /** One more hub over the same store. */
  openServer(): Promise<HubServer> {
    return openHub({
      store: this.store,
      key: this.hubKey,
      id: "hub",
      clock: this.clock,
      log: ({ event, error }) => {
        if (event === "failure") this.errors.push(error);
      },
      ...this.#options,
    });
  }

  async up(): Promise<void> {
    this.#server = await this.openServer();
  }

  async down(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    await server?.close();
  }

  /** The connection to whichever hub is up. */
  readonly hub: Hub = lineTo(() => this.server);

  key(id: string): PrivateKey {
    const key = this.keys.get(id) ?? generateKey();
    this.keys.set(id, key);
    return key;
  }

  agent(id: string, options: Partial<AgentOptions> = {}): Agent {
    return createAgent({ id, key: this.key(id), hub: this.hub, clock: this.clock, ...options });
  }

  async history(): Promise<HistoryEntry[]> {
    const entries: HistoryEntry[] = [];
    for await (const entry of ledgerHistory(this.store)) entries.push(entry);
    return [...entries, ...this.extra];
  }

  /** The envelopes and decisions of a handoff, in order, without its custody receipts. */
  async kinds(handoffId: string): Promise<string[]> {
    return (await this.history()).flatMap((entry) => {
      if (entry.type === "event") return entry.handoff_id === handoffId ? [entry.event.type] : [];
      if (entry.type !== "envelope" || entry.envelope.handoff_id !== handoffId) return [];
      const { kind, body, from } = entry.envelope;
      if (kind === "receipt" && from === this.server.id) return [];
      return ["status" in body ? `${kind} ${body.status}` : kind];
    });
  }

  /** Adds a custody receipt to the history, so that the checker sees what the sender was told. */
  received(text: string): void {
    const envelope = parseEnvelope(readCompact(text).payload);
    const digest = `sha256:${"0".repeat(64)}` as const;
    this.extra.push({ type: "envelope", at: this.clock.now(), digest, envelope });
  }

  /** Everything has ended, and all promises hold. */
  async check(isComplete = true): Promise<HistoryReport> {
    return checkHistory(await this.history(), { isComplete, hub: this.server.id });
  }
}

export function lineTo(server: () => HubServer): Hub {
  // Also while the hub is down: agents that were attached keep handing off.
  let domain: string | undefined;
  return {
    id: "hub",
    get domain() {
      return (domain ??= server().domain);
    },
    submit: async (...given) => server().submit(...given),
    publish: async (manifest, invitation) => server().publish(manifest, invitation),
    manifests: async (query) => server().manifests(query),
    find: async (query) => server().find(query),
    attach: async (...request) => server().attach(...request),
    handoff: async (id, as) => server().handoff(id, as),
    blobs: {
      put: async (...upload) => server().blobs!.put(...upload),
      upload: async (asked) => server().blobs!.upload(asked),
      read: async (read) => server().blobs!.read(read),
    },
  };
}

/** Attaches as an agent that has published its manifest, and does nothing by itself. */
export async function listen(
  world: World,
  agent: string,
  hears: (delivery: Delivery) => void,
  credit = 0,
  instance = "i",
): Promise<Attachment> {
  const at = new Date(world.clock.now()).toISOString();
  const hello = {
    waybill: 1,
    kind: "hello",
    from: agent,
    to: "hub",
    domain: world.hub.domain,
    instance,
    id: newId(),
    at,
  };
  const proof = signCompact(stringifyJson(hello), world.key(agent));
  return world.hub.attach({ agent, credit, instance, proof }, hears);
}

/** The error of a refused call; throws if the call succeeds. */
export async function refusalOf(work: Promise<unknown>): Promise<WaybillError> {
  const error: unknown = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!WaybillError.is(error)) throw new Error("It was not refused.");
  return error;
}

/** Makes a commit of a store. */
export type MakeCommit = (commit: Commit) => Promise<CommitOutcome>;

/** Passes the store's commits through a function of a test, one at a time. Returns what undoes it. */
export function interceptCommits(
  store: Store,
  through: (commit: Commit, make: MakeCommit) => Promise<CommitOutcome>,
): () => void {
  const original = store.commit;
  const inner = { commit: original.bind(store) };
  store.commit = (group) =>
    commitEach(group, (each) => through(each, (commit) => commitOne(inner, commit)));
  return () => void (store.commit = original);
}
