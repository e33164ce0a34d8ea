import { newId, newSalt, WaybillError } from "@waybill/protocol";
import type { LifecycleTerms } from "@waybill/protocol/hub";
import type { Clock } from "@waybill/protocol/wire";
import { systemClock } from "@waybill/protocol/wire";
import { Access } from "../access/access.ts";
import { Admission } from "../admission/admission.ts";
import { BlobCustody } from "../blobs/custody.ts";
import { HandoffRecords } from "../custody/handoff-records.ts";
import { Receipts } from "../custody/receipts.ts";
import { StoreHealth } from "../custody/store-health.ts";
import { StoreWriter } from "../custody/store-writer.ts";
import { Groups } from "../groups/groups.ts";
import { Quotas } from "../groups/quotas.ts";
import type { HubIdentity } from "../registry/identity.ts";
import { WriteBehindSettings } from "../registry/write-behind-settings.ts";
import { Measured } from "../registry/measured.ts";
import { Registry } from "../registry/registry.ts";
import type { Publication, Published } from "../registry/registry.ts";
import { LastSeen } from "../registry/last-seen.ts";
import type { AgentSession } from "../routing/agent-session.ts";
import { AttachedCapabilities } from "../routing/attached-capabilities.ts";
import { Candidates } from "../routing/candidates.ts";
import { CapabilitySearch } from "../routing/capability-search.ts";
import { Router } from "../routing/router.ts";
import { SchemaChecks } from "../routing/schema-checks.ts";
import type { Store, StoredHandoff } from "../store.ts";
import { KeyWatch } from "../routing/key-watch.ts";
import { UnacknowledgedDeliveries } from "../routing/unacknowledged-deliveries.ts";
import { termsWith } from "./terms.ts";
import type { Committed } from "./committed.ts";
import { Deliveries } from "./deliveries.ts";
import { HandoffGroups } from "./group.ts";
import { AcceptanceTimers } from "./acceptance-timers.ts";
import type { TakenAttempt } from "./acceptance-timers.ts";
import { Dispatcher } from "./dispatcher.ts";
import { OpenHandoffs } from "./open-handoffs.ts";
import { HUB_LIMITS } from "./options.ts";
import type { HubLimits, HubLogEvent, KeyedHubOptions } from "./options.ts";
import { Timers } from "./timers.ts";
import { GroupCommit } from "./group-commit.ts";

const PAUSE_AFTER_FAILURE_MS = 1_000;

/** What a hub reports: log events, and new manifests. */
export type HubNews = HubLogEvent | { readonly event: "published"; readonly agent: string };

/**
 * What the parts of a hub set off. These functions need the whole engine, so they are handed in:
 * `reactions.ts` lists them.
 */
export interface Reactions {
  /** A timer of a handoff has fired. */
  readonly onDue: (engine: Engine, stored: StoredHandoff) => Promise<void>;
  /** A taken attempt was not accepted in time. */
  readonly onUnaccepted: (engine: Engine, id: string, taken: TakenAttempt) => Promise<void>;
  /** An agent may have room for a waiting handoff. */
  readonly onRoom: (engine: Engine, id: string) => Promise<Committed>;
  /** Another hub on the same store has committed. */
  readonly onOtherCommit: (engine: Engine, stored: StoredHandoff) => void;
}

/**
 * The assembled parts of one hub. The reducer decides every change of a handoff; the change and all
 * its consequences go to disk in one commit, and only then become visible.
 */
export class Engine {
  readonly id: string;
  readonly domain: string;
  readonly store: Store;
  readonly clock: Clock;
  readonly limits: HubLimits;
  readonly terms: LifecycleTerms;
  readonly options: KeyedHubOptions;
  readonly registry: Registry;
  readonly access: Access;
  readonly groups: Groups;
  readonly quotas: Quotas;
  readonly checks: SchemaChecks;
  readonly attachedCapabilities: AttachedCapabilities;
  readonly search: CapabilitySearch;
  readonly router: Router;
  readonly records: HandoffRecords;
  readonly receipts: Receipts;
  readonly groupCommit: GroupCommit;
  readonly deliveries: Deliveries;
  readonly dispatcher: Dispatcher;
  readonly openHandoffs: OpenHandoffs;
  readonly handoffGroups: HandoffGroups;
  /** Undefined if the store does not support blobs. */
  readonly blobs: BlobCustody | undefined;
  readonly agentSessions: Map<string, AgentSession> = new Map();
  readonly unseen: UnacknowledgedDeliveries;
  readonly keys: KeyWatch;
  readonly health: StoreHealth;
  readonly writer: StoreWriter;
  readonly lastSeen: LastSeen;
  readonly watchers: Set<(news: HubNews) => void> = new Set();
  readonly newId: () => string;
  readonly newSalt: () => string;
  readonly #settings: WriteBehindSettings;
  readonly measured: Measured;
  readonly timers: Timers;
  readonly acceptanceTimers: AcceptanceTimers;
  readonly openedAt: number;
  readonly #reactions: Reactions;
  readonly #background = new Set<Promise<void>>();
  #unsubscribe: () => void = () => undefined;
  #isClosed = false;

  constructor(options: KeyedHubOptions, identity: HubIdentity, reactions: Reactions) {
    this.#reactions = reactions;
    this.options = options;
    this.id = identity.id;
    this.domain = identity.domain;
    this.store = options.store;
    this.clock = options.clock ?? systemClock();
    this.newId = options.newId ?? (() => newId());
    this.newSalt = options.newSalt ?? (() => newSalt());
    this.limits = { ...HUB_LIMITS, ...options.limits };
    this.terms = termsWith(options.terms);
    this.health = new StoreHealth(this.store, this.clock);
    this.writer = new StoreWriter(this.store, this.health);
    this.checks = new SchemaChecks(this.clock);
    this.registry = new Registry({
      store: this.store,
      checks: this.checks,
      writer: this.writer,
      trust: options.trust ?? { firstUse: true },
      limits: this.limits,
      domain: this.domain,
      names: async () => [
        this.id,
        options.deadLetterAgent ?? this.id,
        ...(await this.access.operatorsAgents()),
      ],
      admission: new Admission({
        store: this.store,
        domain: this.domain,
        allowed: options.allowed ?? [],
      }),
    });
    this.unseen = new UnacknowledgedDeliveries(this.limits.unseenCharacters, this.agentSessions);
    this.keys = new KeyWatch({
      attached: this.agentSessions,
      clock: this.clock,
      keyOf: (kid) => this.registry.keyOf(kid),
      inBackground: (work) => this.inBackground(work),
    });
    this.#settings = new WriteBehindSettings(this.store, this.clock, (cause) =>
      this.health.failed(cause),
    );
    this.lastSeen = new LastSeen(this.store, this.#settings);
    this.measured = new Measured(this.store, this.#settings);
    this.groups = new Groups(this.store);
    this.access = new Access(this.groups, options.operators ?? []);
    const { registry, access, measured, checks } = this;
    const attached = this.agentSessions;
    this.attachedCapabilities = new AttachedCapabilities(registry, measured, attached);
    const candidates = new Candidates(registry, measured, attached);
    this.search = new CapabilitySearch({ registry, access, attached, candidates, checks });
    this.records = new HandoffRecords(this.store, this.writer);
    this.router = new Router({
      registry,
      records: this.records,
      access,
      measured,
      attached,
      attachedCapabilities: this.attachedCapabilities,
      candidates,
      checks,
      random: options.random ?? Math.random,
    });
    this.receipts = new Receipts(this.id, options.key, this.clock, this);
    this.groupCommit = new GroupCommit(this.records, this.receipts, this.clock);
    this.deliveries = new Deliveries(this.agentSessions, this.records, () => this.clock.now());
    this.dispatcher = new Dispatcher({
      store: this.store,
      clock: this.clock,
      offerAgain: (id) => reactions.onRoom(this, id),
      router: this.router,
      attachedCapabilities: this.attachedCapabilities,
      attached: this.agentSessions,
      inBackground: (work) => this.inBackground(work),
    });
    this.handoffGroups = new HandoffGroups(this.store);
    this.openHandoffs = new OpenHandoffs(this.store, this.limits.openHandoffs);
    this.quotas = new Quotas({ store: this.store, groups: this.groups, open: this.openHandoffs });
    const { blobs: files } = this.store;
    this.blobs =
      files === undefined
        ? undefined
        : new BlobCustody({
            store: this.store,
            files,
            writer: this.writer,
            clock: this.clock,
            newId: this.newId,
            limits: this.limits,
            load: (id) => this.records.load(id),
            failed: (error) => this.log({ event: "failure", error }),
            assertOpen: () => this.assertOpen(),
          });
    this.timers = new Timers(
      this.store,
      this.clock,
      (stored) => reactions.onDue(this, stored),
      (error) => this.log({ event: "failure", error }),
    );
    this.acceptanceTimers = new AcceptanceTimers(this.clock, (id, taken) =>
      this.inBackground(this.#expireAcceptance(id, taken)),
    );
    this.openedAt = this.clock.now();
  }

  log(event: HubLogEvent): void {
    this.options.log?.(event);
    this.tell(event);
  }

  tell(news: HubNews): void {
    for (const watcher of this.watchers) watcher(news);
  }

  assertOpen(): void {
    if (!this.#isClosed) return;
    throw new WaybillError(503, `The hub ${this.id} is closed; send again once it is back.`);
  }

  /** Puts a manifest on record. */
  async publish(manifest: string, publication: Publication): Promise<Published> {
    this.assertOpen();
    const published = await this.registry.publish(manifest, this.clock.now(), publication);
    await this.keys.check(published.agent);
    this.tell({ event: "published", agent: published.agent });
    return published;
  }

  async start(): Promise<void> {
    this.#unsubscribe = this.store.onCommit((stored, publisher) => {
      if (publisher !== null) this.#onPublished(publisher);
      if (stored !== null) this.#onCommitted(stored);
    });
    this.blobs?.start();
    await this.timers.start();
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.dispatcher.close();
    this.#unsubscribe();
    const reason = new WaybillError(503, `The hub ${this.id} has closed; attach again later.`);
    for (const attached of this.agentSessions.values()) attached.end(reason);
    this.acceptanceTimers.stop();
    await this.blobs?.close();
    await this.timers.stop();
    await this.records.queue.idle();
    await Promise.allSettled(this.#background);
    await this.#settings.save();
  }

  /** Background work. Only `close` waits for it. */
  inBackground(work: Promise<unknown>): void {
    const settled: Promise<void> = work.then(
      () => undefined,
      (error: unknown) => this.log({ event: "failure", error }),
    );
    this.#background.add(settled);
    void settled.then(() => this.#background.delete(settled));
  }

  async #expireAcceptance(id: string, taken: TakenAttempt): Promise<void> {
    try {
      await this.#reactions.onUnaccepted(this, id, taken);
    } catch (error) {
      // The store is given time to recover.
      this.acceptanceTimers.note(id, {
        ...taken,
        until: this.clock.now() + PAUSE_AFTER_FAILURE_MS,
      });
      throw error;
    }
  }

  #onCommitted(stored: StoredHandoff): void {
    if (!this.records.isOwnWrite(stored)) this.#reactions.onOtherCommit(this, stored);
  }

  /** A manifest was published, here or at another hub. */
  #onPublished(agent: string): void {
    this.registry.forget(agent);
    const attached = this.agentSessions.get(agent);
    if (attached !== undefined) this.inBackground(this.keys.look(attached));
    // The agent may now offer a capability that handoffs are waiting for.
    this.inBackground(this.dispatcher.onPublished(agent));
  }
}
