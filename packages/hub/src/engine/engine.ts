import { isOfferDue, liveAttempt, newId, WaybillError } from "@waybill/protocol";
import type { LifecycleTerms, Outcome } from "@waybill/protocol";
import type { Clock } from "../clock.ts";
import { systemClock } from "../clock.ts";
import { Access } from "../access/access.ts";
import { Admission } from "../admission/admission.ts";
import { BlobCustody } from "../blobs/custody.ts";
import { Cases } from "../custody/cases.ts";
import type { Draft } from "../custody/draft.ts";
import { Receipts } from "../custody/receipts.ts";
import { storedOf } from "../custody/record.ts";
import type { Case } from "../custody/record.ts";
import { StoreHealth } from "../custody/store-health.ts";
import { Groups } from "../groups/groups.ts";
import { Quotas } from "../groups/quotas.ts";
import type { HubIdentity } from "../registry/identity.ts";
import { LateSettings } from "../registry/late-settings.ts";
import { Measured } from "../registry/measured.ts";
import { Registry } from "../registry/registry.ts";
import type { Publication, Published } from "../registry/registry.ts";
import { Seen } from "../registry/seen.ts";
import type { Attached } from "../routing/attached.ts";
import { Router } from "../routing/router.ts";
import { SchemaChecks } from "../routing/schema-checks.ts";
import type { Commit, CommitOutcome, Store, StoredHandoff } from "../store.ts";
import { KeyWatch } from "../routing/key-watch.ts";
import { Unseen } from "../routing/unseen.ts";
import { termsWith } from "./bind.ts";
import { conclude } from "./conclude.ts";
import { Deliveries } from "./deliveries.ts";
import { Graces } from "./graces.ts";
import type { Taken } from "./graces.ts";
import { Offers } from "./offers.ts";
import { OpenHandoffs } from "./open-handoffs.ts";
import { HUB_LIMITS } from "./options.ts";
import type { HubLimits, HubLogEvent, KeyedHubOptions } from "./options.ts";
import { Timers } from "./timers.ts";
import { lapse, wake } from "./wake.ts";

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
  readonly cases: Cases;
  readonly receipts: Receipts;
  readonly deliveries: Deliveries;
  readonly offers: Offers;
  readonly openHandoffs: OpenHandoffs;
  /** Undefined where the store has no place for blobs. */
  readonly blobs: BlobCustody | undefined;
  readonly attached: Map<string, Attached> = new Map();
  readonly unseen: Unseen;
  readonly keys: KeyWatch;
  readonly health: StoreHealth;
  readonly seen: Seen;
  readonly watchers: Set<(news: HubNews) => void> = new Set();
  readonly newId: () => string;
  readonly #settings: LateSettings;
  readonly #measured: Measured;
  readonly #timers: Timers;
  readonly #graces: Graces;
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
    this.unseen = new Unseen(this.limits.unseenCharacters, this.attached);
    this.keys = new KeyWatch({
      attached: this.attached,
      clock: this.clock,
      keyOf: (kid) => this.registry.keyOf(kid),
      inBackground: (work) => this.inBackground(work),
    });
    this.#settings = new LateSettings(this.store, this.clock, (cause) => this.health.failed(cause));
    this.seen = new Seen(this.store, this.#settings);
    this.#measured = new Measured(this.store, this.#settings);
    this.groups = new Groups(this.store);
    this.access = new Access(this.groups);
    this.router = new Router({
      registry: this.registry,
      access: this.access,
      measured: this.#measured,
      attached: this.attached,
      checks: this.checks,
      random: options.random ?? Math.random,
    });
    this.receipts = new Receipts(this.id, options.key, this.clock, this.newId);
    this.cases = new Cases({
      store: this.store,
      commit: (commit) => this.commit(commit),
      clock: this.clock,
      finish: (draft) => this.#finish(draft),
      abandon: (draft) => this.#abandon(draft),
      settle: (draft, stored) => this.#settle(draft, stored),
      doubtful: (stored) => this.#doubt(stored),
      overtaken: (found) => this.#overtaken(found),
    });
    this.deliveries = new Deliveries(this.attached, this.cases, () => this.clock.now());
    this.offers = new Offers({
      store: this.store,
      clock: this.clock,
      cases: this.cases,
      router: this.router,
      attached: this.attached,
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
            load: (id) => this.cases.load(id),
            failed: (error) => this.log({ event: "failure", error }),
            assertOpen: () => this.assertOpen(),
          });
    this.#timers = new Timers(
      this.store,
      this.clock,
      (stored) => wake(this, stored),
      (error) => this.log({ event: "failure", error }),
    );
    this.#graces = new Graces(this.clock, (id, taken) => this.inBackground(this.#lapse(id, taken)));
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
      if (publisher !== null) this.#published(publisher);
      if (stored !== null) this.#observe(stored);
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
    for (const attached of this.attached.values()) attached.end(reason);
    this.#graces.stop();
    await this.blobs?.close();
    await this.#timers.stop();
    await this.cases.lanes.idle();
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
    attached: Attached,
    type: "taken" | "heartbeat",
    handoffId: string,
    attempt: number,
  ): Promise<void> {
    const work = this.cases.frame(handoffId, (draft) => {
      const event = { type, by: attached.agent, attempt, at: draft.at } as const;
      const before = draft.record;
      const status = draft.frame(event);
      if (status === 410) {
        const closed = draft.record?.state.attempts[attempt - 1];
        const reason = "This attempt is closed.";
        attached.deliver({
          type: "stop",
          handoffId,
          attempt,
          status: closed?.status ?? 410,
          reason,
        });
      }
      if (draft.record === before) return undefined;
      if (type === "heartbeat") return [];
      const { by, at } = event;
      const until = liveAttempt(draft.record!.state)!.silentAt!;
      this.#graces.note(handoffId, { by, attempt, at, until });
      return [event];
    });
    this.inBackground(work);
    return work;
  }

  async #lapse(id: string, taken: Taken): Promise<void> {
    try {
      await lapse(this, id, taken);
    } catch (error) {
      // The store is given time to recover.
      this.#graces.note(id, { ...taken, until: this.clock.now() + PAUSE_AFTER_FAILURE_MS });
      throw error;
    }
  }

  async #finish(draft: Draft): Promise<void> {
    if (draft.record === undefined || (!draft.isChanged && !draft.wantsOffer)) return;
    if (draft.isOpen && isOfferDue(draft.record.state, draft.at)) await this.offers.place(draft);
    else if (draft.record.isWaiting) this.offers.waitUntilDue(draft.record, draft.at);
    if (draft.hasEnded) await conclude(this, draft);
    if (draft.record.blobs !== undefined) await this.blobs?.bind(draft);
  }

  #abandon(draft: Draft): void {
    const { state } = draft.record ?? {};
    if (draft.before === undefined && state !== undefined) {
      this.quotas.leave(state.delegator, state.id);
    }
    for (const each of draft.outgoing) {
      if (each.type !== "offer") continue;
      const attached = this.attached.get(each.to);
      const id = draft.record!.state.id;
      if (attached?.heldAttempt(id) === each.attempt) attached.drop(id);
    }
  }

  async #settle(draft: Draft, stored: StoredHandoff): Promise<void> {
    const record = draft.record;
    if (record === undefined) return;
    this.openHandoffs.note(stored);
    if (draft.before === undefined) this.quotas.settled(stored.id);
    this.#timers.note(stored.wakeAt);
    if (draft.isChanged) this.#graces.forget(stored.id);
    this.offers.settled(draft, stored);
    if (draft.hasEnded) {
      if (record.blobs !== undefined) this.blobs?.ended(draft.at);
      const { status } = record.state;
      this.log({ event: "ended", handoffId: stored.id, status });
    }
    const outcomes = this.#outcomesOf(draft);
    try {
      await this.deliveries.send(record, draft.outgoing);
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

  /** How the attempts ended that this draft closes, with what only the attachment knows about each. */
  #outcomesOf(draft: Draft): (Outcome & { readonly recipient: string })[] {
    const { state, asked } = draft.record!;
    return draft.outcomes().map((outcome) => {
      const attached = this.attached.get(outcome.recipient);
      const isHeld = attached?.heldAttempt(state.id) !== undefined;
      const heldMs = attached?.heldMs(state.id);
      // Who waited for a person's answer was not slow.
      const tookMs = asked.length > 0 ? undefined : heldMs;
      return { ...outcome, isCrash: !isHeld, tookMs };
    });
  }

  /** If it is on disk, its sender hears so when it sends again; nobody would act on it before. */
  #doubt(stored: StoredHandoff): void {
    this.#timers.note(stored.wakeAt);
    this.offers.noteDoubtful(stored);
    this.inBackground(this.cases.lanes.run(stored.id, () => this.#resolveDoubt(stored)));
  }

  /** Another hub's word of the same version, which came meanwhile, was taken for the echo of this one. */
  async #resolveDoubt(stored: StoredHandoff): Promise<void> {
    await this.#follow(stored);
    const found = await this.cases.load(stored.id);
    if (found !== undefined) this.#noteOthers(storedOf(found));
  }

  /** A manifest was published, here or at another hub. */
  #published(agent: string): void {
    this.registry.forget(agent);
    const attached = this.attached.get(agent);
    if (attached !== undefined) this.inBackground(this.keys.look(attached));
    // It may offer now what others have been waiting for.
    this.inBackground(this.offers.published(agent));
  }

  /** Another hub on the same store has written. */
  #observe(stored: StoredHandoff): void {
    if (this.cases.isOwnWrite(stored)) return;
    this.cases.outdate(stored);
    this.#noteOthers(stored);
    if (this.attached.size === 0) return;
    this.inBackground(this.cases.lanes.run(stored.id, () => this.#follow(stored)));
  }

  /** Another hub has written in between: all that its word would have set off here. */
  async #overtaken(found: Case): Promise<void> {
    this.#noteOthers(storedOf(found));
    await this.deliveries.follow(found.record);
  }

  #noteOthers(stored: StoredHandoff): void {
    if (stored.state !== "open") this.#graces.forget(stored.id);
    this.openHandoffs.note(stored);
    this.#timers.note(stored.wakeAt);
    this.offers.noteWaiting(stored);
    if (this.attached.size === 0 || stored.waitsFor === null) return;
    this.inBackground(this.offers.offerAgain(stored.id));
  }

  async #follow({ id, delegator }: StoredHandoff): Promise<void> {
    try {
      const found: Case | undefined = await this.cases.load(id);
      if (found !== undefined) await this.deliveries.follow(found.record);
    } catch (error) {
      // Nothing else would bring it to those who are here: whoever attaches again is brought it.
      for (const attached of this.attached.values()) {
        const isParty = attached.agent === delegator || attached.heldAttempt(id) !== undefined;
        if (isParty) attached.endUnserved(error);
      }
      throw error;
    }
  }
}
