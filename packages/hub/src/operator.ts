import { digestOf, isAgentId, isKeyValidAt, rankByWords, WaybillError } from "@waybill/protocol";
import type { HubLimits } from "./engine/options.ts";
import type { FindQuery, Found, KeyRecord, LifecycleTerms, Manifest } from "@waybill/protocol";
import { signRequest } from "@waybill/protocol/api";
import { caseOf } from "./custody/record.ts";
import type { Engine, HubNews } from "./engine/engine.ts";
import { isParty, viewOf } from "./engine/view.ts";
import type { Attachment, Delivery, HandoffView } from "./hub-api.ts";
import { admit } from "./routing/admit.ts";
import type { AttachingAgent } from "./routing/attached.ts";
import type { LedgerEntry, Page, StoredManifest } from "./store.ts";
import { signCheckpoint } from "./ledger/checkpoint.ts";

/** Whether an agent is there, and what it has on its hands. */
export interface Presence {
  readonly agent: string;
  readonly isConnected: boolean;
  /** In milliseconds since 1970; null for who has never been here. After a crash, a moment may be missing. */
  readonly lastSeen: number | null;
  /** How many more attempts it takes. */
  readonly credit: number;
  readonly inFlight: number;
  readonly manifest: Manifest;
  readonly published: StoredManifest;
}

/** A request that the hub makes of somebody. */
export interface HubRequest {
  readonly to: string;
  readonly method: string;
  readonly path: string;
  readonly body: string;
}

/** A query, by whoever may not know what the capability is called. */
export type Search = Omit<FindQuery, "capability"> & { readonly capability?: string | undefined };

const PAGE = 100;
const NAMES_AT_MOST = 1_000;

/** What whoever runs a hub may see and do, and whoever serves it to others. */
export class Operator {
  readonly #engine: Engine;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  get limits(): Readonly<HubLimits> {
    return this.#engine.limits;
  }

  get terms(): Readonly<LifecycleTerms> {
    return this.#engine.terms;
  }

  now(): number {
    return this.#engine.clock.now();
  }

  newId(): string {
    return this.#engine.newId();
  }

  /** The key, where it is one that this agent has listed. */
  async keyOf(kid: string, agent: string): Promise<KeyRecord | undefined> {
    const record = await this.#engine.registry.keyOf(kid, agent);
    return record?.agent === agent ? record : undefined;
  }

  /** Attaches an agent of which the caller knows by other means than a hello who it is. */
  async attach(
    request: AttachingAgent,
    handler: (delivery: Delivery) => void,
  ): Promise<Attachment> {
    await this.#assertKnown(request.agent);
    return admit(this.#engine, request, handler);
  }

  /** The same, but only where nothing of the agent is attached: whoever is there stays. */
  async attachWhereFree(
    request: AttachingAgent,
    handler: (delivery: Delivery) => void,
  ): Promise<Attachment | undefined> {
    await this.#assertKnown(request.agent);
    return this.#engine.attached.has(request.agent)
      ? undefined
      : admit(this.#engine, request, handler);
  }

  /** An agent that is attached has proven itself again: from now on its line stands on this key. */
  async stayWith(agent: string, kid: string): Promise<void> {
    const attached = this.#engine.attached.get(agent);
    if (attached === undefined || attached.kids?.[0] === kid) return;
    attached.kids = [kid];
    await this.#engine.keys.look(attached);
  }

  /** The keys of an agent that are valid now. */
  async currentKids(agent: string): Promise<readonly string[]> {
    const { registry, clock } = this.#engine;
    const listed = (await registry.manifestsOf(agent)).at(-1)?.keys ?? new Map<string, KeyRecord>();
    const now = clock.now();
    return [...listed].filter(([, key]) => isKeyValidAt(key, now)).map(([kid]) => kid);
  }

  async #assertKnown(agent: string): Promise<void> {
    this.#engine.assertOpen();
    if ((await this.#engine.registry.manifestsOf(agent)).length > 0) return;
    throw unknownAgent(agent, 401);
  }

  /** Says what happens, until it is called off. */
  watch(watcher: (news: HubNews) => void): () => void {
    const { watchers } = this.#engine;
    watchers.add(watcher);
    return () => watchers.delete(watcher);
  }

  /** The Authorization header of a request that the hub itself makes. */
  signRequest({ to, method, path, body }: HubRequest): string {
    const { id: from, domain, options, clock } = this.#engine;
    const at = clock.now();
    const bodyDigest = digestOf(body);
    const claim = { from, to, domain, id: this.newId(), at, method, path, bodyDigest };
    return signRequest(claim, options.key);
  }

  /** Rejects with 503 where a commit would fail now. */
  async checkStore(): Promise<void> {
    await this.#engine.store.ledgerHead();
    await this.#engine.health.check();
  }

  /** Settles when what an agent has said without an envelope was taken in; nothing where that is little. */
  framesTaken(agent: string): Promise<void> | undefined {
    return this.#engine.attached.get(agent)?.framesTaken();
  }

  /** Which process of an agent is attached. */
  instanceOf(agent: string): string | undefined {
    return this.#engine.attached.get(agent)?.instance;
  }

  /** What all who are attached have on their hands, and what they would take. */
  load(): { readonly attached: number; readonly inFlight: number; readonly credit: number } {
    const all = [...this.#engine.attached.values()];
    return {
      attached: all.length,
      inFlight: all.reduce((sum, { heldCount }) => sum + heldCount, 0),
      credit: all.reduce((sum, { room }) => sum + room, 0),
    };
  }

  async presence(agent: string): Promise<Presence> {
    const published = await this.#engine.store.manifest(agent);
    if (published === undefined) throw unknownAgent(agent, 404);
    return this.#presenceOf(published);
  }

  async agents(page: Page<string>): Promise<readonly Presence[]> {
    const published = await this.#engine.store.agents(page);
    return Promise.all(published.map((each) => this.#presenceOf(each)));
  }

  async #presenceOf(published: StoredManifest): Promise<Presence> {
    const { agent } = published;
    const { attached, seen, registry, clock } = this.#engine;
    const here = attached.get(agent);
    return {
      agent,
      isConnected: here !== undefined,
      lastSeen: here === undefined ? await seen.of(agent) : clock.now(),
      credit: here?.room ?? 0,
      inFlight: here?.heldCount ?? 0,
      manifest: (await registry.manifestsOf(agent)).at(-1)!.manifest,
      published,
    };
  }

  /** As `find` judges; of every capability that there is, where none is named. */
  async search({ capability, ...query }: Search): Promise<Found> {
    const { router, clock } = this.#engine;
    const names = capability === undefined ? await this.#names() : [capability];
    const found = await Promise.all(
      names.map((name) => router.find({ ...query, capability: name }, clock.now())),
    );
    const fits = found.flatMap((each) => each.fits);
    return {
      fits: query.words === undefined ? fits : rankByWords(fits, query.words),
      leftOut: found.flatMap(({ leftOut }) => leftOut),
    };
  }

  async #names(): Promise<readonly string[]> {
    const names = new Set<string>();
    for (let after: string | undefined; names.size < NAMES_AT_MOST;) {
      const page = await this.#engine.store.agents({ after, limit: PAGE });
      for (const { capabilities } of page) for (const name of capabilities) names.add(name);
      if (page.length < PAGE) break;
      after = page.at(-1)!.agent;
    }
    return [...names].toSorted().slice(0, NAMES_AT_MOST);
  }

  /** As an operator sees it, or, with `as`, a party of it. */
  async handoff(id: string, as?: string): Promise<HandoffView | undefined> {
    const record = (await this.#engine.cases.load(id))?.record;
    if (record === undefined || (as !== undefined && !isParty(record, as))) return undefined;
    return viewOf(this.#engine, record);
  }

  /** The handoffs of one job, by id; with `as`, those that it is party of. */
  async correlated(
    correlationId: string,
    page: Page<string>,
    as?: string,
  ): Promise<{ readonly handoffs: readonly HandoffView[]; readonly last: string | undefined }> {
    const stored = await this.#engine.store.correlated(correlationId, page);
    const records = stored
      .map((each) => caseOf(each).record)
      .filter((record) => as === undefined || isParty(record, as));
    return {
      handoffs: await Promise.all(records.map((record) => viewOf(this.#engine, record))),
      last: stored.length < page.limit ? undefined : stored.at(-1)?.id,
    };
  }

  /** What is on record about a handoff. */
  history(id: string, page: Page<number>): Promise<readonly LedgerEntry[]> {
    return this.#engine.store.ledgerOf(id, page);
  }

  /** The hub's signed word for where its ledger ends now. */
  async checkpoint(): Promise<string> {
    const { store, clock, options } = this.#engine;
    return signCheckpoint(await store.ledgerHead(), clock.now(), options.key);
  }
}

function unknownAgent(agent: string, status: 401 | 404): WaybillError {
  const name = isAgentId(agent) ? agent : "this agent";
  return new WaybillError(
    status,
    `No manifest of ${name} is known here: publish one first (PUT /v1/agents/{id}).`,
  );
}
