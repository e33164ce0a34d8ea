import { isOfferDue, liveAttempt, newId, WaybillError } from "@waybill/protocol";
import type { LifecycleTerms, Outcome } from "@waybill/protocol";
import type { Clock } from "../clock.ts";
import { systemClock } from "../clock.ts";
import { Access } from "../access/access.ts";
import { Admission } from "../admission/admission.ts";
import { BlobCustody } from "../blobs/custody.ts";
import { HandoffRecords } from "../custody/handoff-records.ts";
import type { HandoffTransaction } from "../custody/handoff-transaction.ts";
import { Receipts } from "../custody/receipts.ts";
import { storedOf } from "../custody/handoff-record.ts";
import type { VersionedRecord } from "../custody/handoff-record.ts";
import { StoreHealth } from "../custody/store-health.ts";
import { Groups } from "../groups/groups.ts";
import { Quotas } from "../groups/quotas.ts";
import type { HubIdentity } from "../registry/identity.ts";
import { WriteBehindSettings } from "../registry/write-behind-settings.ts";
import { Measured } from "../registry/measured.ts";
import { Registry } from "../registry/registry.ts";
import type { Publication, Published } from "../registry/registry.ts";
import { LastSeen } from "../registry/last-seen.ts";
import type { AgentSession } from "../routing/agent-session.ts";
import { Router } from "../routing/router.ts";
import { SchemaChecks } from "../routing/schema-checks.ts";
import type { Commit, CommitOutcome, Store, StoredHandoff } from "../store.ts";
import { KeyWatch } from "../routing/key-watch.ts";
import { UnacknowledgedDeliveries } from "../routing/unacknowledged-deliveries.ts";
import { termsWith } from "./terms.ts";
import { conclude } from "./conclude.ts";
import { Deliveries } from "./deliveries.ts";
import { AcceptanceTimers } from "./acceptance-timers.ts";
import type { TakenAttempt } from "./acceptance-timers.ts";
import { Offers } from "./offers.ts";
import { OpenHandoffs } from "./open-handoffs.ts";
import { HUB_LIMITS } from "./options.ts";
import type { HubLimits, HubLogEvent, KeyedHubOptions } from "./options.ts";
import { Timers } from "./timers.ts";
import { expireAcceptance, applyDueTimers } from "./due-timers.ts";

const PAUSE_AFTER_FAILURE_MS = 1_000;

/** What happens at a hub: what it logs, and new manifests. */
export type HubNews = HubLogEvent | { readonly event: "published"; readonly agent: string };

/**
 * What happens to handoffs in custody, whoever asks for it: each change is decided by the reducer,
 * put on disk with everything that follows from it, and only then shown.
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
  readonly router: Router;
  readonly records: HandoffRecords;
  readonly receipts: Receipts;
  readonly deliveries: Deliveries;
  readonly offers: Offers;
  readonly openHandoffs: OpenHandoffs;
  /** Undefined where the store has no place for blobs. */
  readonly blobs: BlobCustody | undefined;
  readonly agentSessions: Map<string, AgentSession> = new Map();
  readonly unseen: UnacknowledgedDeliveries;
  readonly keys: KeyWatch;
  readonly health: StoreHealth;
  readonly lastSeen: LastSeen;
  readonly watchers: Set<(news: HubNews) => void> = new Set();
  readonly newId: () => string;
  readonly #settings: WriteBehindSettings;
  readonly #measured: Measured;
  readonly #timers: Timers;
  readonly #acceptanceTimers: AcceptanceTimers;
  readonly openedAt: number;
  readonly #background = new Set<Promise<void>>();
  #unsubscribe: () => void = () => undefined;
  #isClosed = false;

  constructor(options: KeyedHubOptions, identity: HubIdentity) {
    this.options = options;
    this.id = identity.id;
    this.domain = identity.domain;
    this.store = options.store;
    this.clock = options.clock ?? systemClock();
    this.newId = options.newId ?? (() => newId());
    this.limits = { ...HUB_LIMITS, ...options.limits };
    this.terms = termsWith(options.terms);
    this.health = new StoreHealth(this.store, this.clock);
    this.checks = new SchemaChecks(this.clock);
    this.registry = new Registry({
      store: this.store,
      checks: this.checks,
      commit: (commit) => this.commit(commit),
      trust: options.trust ?? { firstUse: true },
      limits: this.limits,
      domain: this.domain,
      names: [this.id, ...(options.operators ?? []), options.deadLetterAgent ?? this.id],
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
    this.#measured = new Measured(this.store, this.#settings);
    this.groups = new Groups(this.store);
    this.access = new Access(this.groups);
    this.router = new Router({
      registry: this.registry,
      access: this.access,
      measured: this.#measured,
      attached: this.agentSessions,
      checks: this.checks,
      random: options.random ?? Math.random,
    });
    this.receipts = new Receipts(this.id, options.key, this.clock, this.newId);
    this.records = new HandoffRecords({
      store: this.store,
      commit: (commit) => this.commit(commit),
      clock: this.clock,
      finish: (transaction) => this.#finish(transaction),
      onAbandoned: (transaction) => this.#onAbandoned(transaction),
      onCommitted: (transaction, stored) => this.#onCommitted(transaction, stored),
      onCommitUnknown: (stored) => this.#onCommitUnknown(stored),
      onConflict: (found) => this.#onConflict(found),
    });
    this.deliveries = new Deliveries(this.agentSessions, this.records, () => this.clock.now());
    this.offers = new Offers({
      store: this.store,
      clock: this.clock,
      cases: this.records,
      router: this.router,
      attached: this.agentSessions,
      inBackground: (work) => this.inBackground(work),
    });
    this.openHandoffs = new OpenHandoffs(this.store, this.limits.openHandoffs);
    this.quotas = new Quotas({ store: this.store, groups: this.groups, open: this.openHandoffs });
    const { blobs: files } = this.store;
    this.blobs =
      files === undefined
        ? undefined
        : new BlobCustody({
            store: this.store,
            files,
            commit: (commit) => this.commit(commit),
            clock: this.clock,
            newId: this.newId,
            limits: this.limits,
            load: (id) => this.records.load(id),
            failed: (error) => this.log({ event: "failure", error }),
            assertOpen: () => this.assertOpen(),
          });
    this.#timers = new Timers(
      this.store,
      this.clock,
      (stored) => applyDueTimers(this, stored),
      (error) => this.log({ event: "failure", error }),
    );
    this.#acceptanceTimers = new AcceptanceTimers(this.clock, (id, taken) =>
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

  /** Writes to the store; that it has failed to is remembered until it works again. */
  async commit(commit: Commit): Promise<CommitOutcome> {
    try {
      return await this.store.commit(commit);
    } catch (error) {
      this.health.failed(error, commit);
      throw error;
    }
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
      if (stored !== null) this.#onOtherHubsCommit(stored);
    });
    await this.blobs?.start();
    await this.#timers.start();
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.offers.close();
    this.#unsubscribe();
    const reason = new WaybillError(503, `The hub ${this.id} has closed; attach again later.`);
    for (const attached of this.agentSessions.values()) attached.end(reason);
    this.#acceptanceTimers.stop();
    await this.blobs?.close();
    await this.#timers.stop();
    await this.records.queue.idle();
    await Promise.allSettled(this.#background);
    await this.#settings.save();
  }

  /** Work that nobody waits for; `close` does. */
  inBackground(work: Promise<unknown>): void {
    const settled: Promise<void> = work.then(
      () => undefined,
      (error: unknown) => this.log({ event: "failure", error }),
    );
    this.#background.add(settled);
    void settled.then(() => this.#background.delete(settled));
  }

  frame(
    attached: AgentSession,
    type: "taken" | "heartbeat",
    handoffId: string,
    attempt: number,
  ): Promise<void> {
    const work = this.records.frame(handoffId, (transaction) => {
      const event = { type, by: attached.agent, attempt, at: transaction.at } as const;
      const before = transaction.record;
      const status = transaction.frame(event);
      if (status === 410) {
        const closed = transaction.record?.state.attempts[attempt - 1];
        const reason = "This attempt is closed.";
        attached.deliver({
          type: "stop",
          handoffId,
          attempt,
          status: closed?.status ?? 410,
          reason,
        });
      }
      if (transaction.record === before) return undefined;
      if (type === "heartbeat") return [];
      const { by, at } = event;
      const until = liveAttempt(transaction.record!.state)!.silentAt!;
      this.#acceptanceTimers.note(handoffId, { by, attempt, at, until });
      return [event];
    });
    this.inBackground(work);
    return work;
  }

  async #expireAcceptance(id: string, taken: TakenAttempt): Promise<void> {
    try {
      await expireAcceptance(this, id, taken);
    } catch (error) {
      // The store is given time to recover.
      this.#acceptanceTimers.note(id, {
        ...taken,
        until: this.clock.now() + PAUSE_AFTER_FAILURE_MS,
      });
      throw error;
    }
  }

  async #finish(transaction: HandoffTransaction): Promise<void> {
    if (transaction.record === undefined || (!transaction.isChanged && !transaction.wantsOffer))
      return;
    if (transaction.isOpen && isOfferDue(transaction.record.state, transaction.at))
      await this.offers.place(transaction);
    else if (transaction.record.isWaiting)
      this.offers.waitUntilDue(transaction.record, transaction.at);
    if (transaction.hasEnded) await conclude(this, transaction);
    if (transaction.record.blobs !== undefined) await this.blobs?.bind(transaction);
  }

  #onAbandoned(transaction: HandoffTransaction): void {
    const { state } = transaction.record ?? {};
    if (transaction.before === undefined && state !== undefined) {
      this.quotas.leave(state.delegator, state.id);
    }
    for (const each of transaction.outgoing) {
      if (each.type !== "offer") continue;
      const attached = this.agentSessions.get(each.to);
      const id = transaction.record!.state.id;
      if (attached?.heldAttempt(id) === each.attempt) attached.drop(id);
    }
  }

  async #onCommitted(transaction: HandoffTransaction, stored: StoredHandoff): Promise<void> {
    const record = transaction.record;
    if (record === undefined) return;
    this.openHandoffs.note(stored);
    if (transaction.before === undefined) this.quotas.settled(stored.id);
    this.#timers.note(stored.wakeAt);
    if (transaction.isChanged) this.#acceptanceTimers.forget(stored.id);
    this.offers.onCommitted(transaction, stored);
    if (transaction.hasEnded) {
      if (record.blobs !== undefined) this.blobs?.ended(transaction.at);
      const { status } = record.state;
      this.log({ event: "ended", handoffId: stored.id, status });
    }
    const outcomes = this.#outcomesOf(transaction);
    try {
      await this.deliveries.send(record, transaction.outgoing);
    } catch (error) {
      // It stays in the inbox of whom it is for.
      this.log({ event: "failure", handoffId: stored.id, error });
    }
    for (const outcome of outcomes) {
      this.inBackground(this.#measure(record.capability, outcome));
    }
  }

  async #measure(
    capability: string,
    { recipient, ...outcome }: Outcome & { readonly recipient: string },
  ): Promise<void> {
    const isBack = await this.#measured.record(recipient, capability, outcome);
    if (isBack) this.offers.lookAgain(recipient, `capability:${capability}`);
  }

  /** How the attempts ended that this transaction closes, with what only the attachment knows about each. */
  #outcomesOf(transaction: HandoffTransaction): (Outcome & { readonly recipient: string })[] {
    const { state, asked } = transaction.record!;
    return transaction.outcomes().map((outcome) => {
      const attached = this.agentSessions.get(outcome.recipient);
      const isHeld = attached?.heldAttempt(state.id) !== undefined;
      const heldMs = attached?.heldMs(state.id);
      // Who waited for a person's answer was not slow.
      const tookMs = asked.length > 0 ? undefined : heldMs;
      return { ...outcome, isCrash: !isHeld, tookMs };
    });
  }

  /** If it is on disk, its sender hears so when it sends again; nobody would act on it before. */
  #onCommitUnknown(stored: StoredHandoff): void {
    this.#timers.note(stored.wakeAt);
    this.offers.noteUnknownCommit(stored);
    this.inBackground(this.records.queue.run(stored.id, () => this.#resolveUnknownCommit(stored)));
  }

  /** Another hub's word of the same version, which came meanwhile, was taken for the echo of this one. */
  async #resolveUnknownCommit(stored: StoredHandoff): Promise<void> {
    await this.#follow(stored);
    const found = await this.records.load(stored.id);
    if (found !== undefined) this.#noteOtherHubsCommit(storedOf(found));
  }

  /** A manifest was published, here or at another hub. */
  #onPublished(agent: string): void {
    this.registry.forget(agent);
    const attached = this.agentSessions.get(agent);
    if (attached !== undefined) this.inBackground(this.keys.look(attached));
    // It may offer now what others have been waiting for.
    this.inBackground(this.offers.onPublished(agent));
  }

  /** Another hub on the same store has written. */
  #onOtherHubsCommit(stored: StoredHandoff): void {
    if (this.records.isOwnWrite(stored)) return;
    this.records.invalidate(stored);
    this.#noteOtherHubsCommit(stored);
    if (this.agentSessions.size === 0) return;
    this.inBackground(this.records.queue.run(stored.id, () => this.#follow(stored)));
  }

  /** Another hub has written in between: all that its word would have set off here. */
  async #onConflict(found: VersionedRecord): Promise<void> {
    this.#noteOtherHubsCommit(storedOf(found));
    await this.deliveries.follow(found.record);
  }

  #noteOtherHubsCommit(stored: StoredHandoff): void {
    if (stored.state !== "open") this.#acceptanceTimers.forget(stored.id);
    this.openHandoffs.note(stored);
    this.#timers.note(stored.wakeAt);
    this.offers.noteWaiting(stored);
    if (this.agentSessions.size === 0 || stored.waitsFor === null) return;
    this.inBackground(this.offers.offerAgain(stored.id));
  }

  async #follow({ id, delegator }: StoredHandoff): Promise<void> {
    try {
      const found: VersionedRecord | undefined = await this.records.load(id);
      if (found !== undefined) await this.deliveries.follow(found.record);
    } catch (error) {
      // Nothing else would bring it to those who are here: whoever attaches again is brought it.
      for (const attached of this.agentSessions.values()) {
        const isParty = attached.agent === delegator || attached.heldAttempt(id) !== undefined;
        if (isParty) attached.endUnserved(error);
      }
      throw error;
    }
  }
}
