import { digestOf, WaybillError } from "@waybill/protocol";
import type { Found, KeyRecord } from "@waybill/protocol";
import type { LifecycleTerms } from "@waybill/protocol/hub";
import { signRequest } from "@waybill/protocol/wire";
import type {
  Attachment,
  BlobContent,
  BlobRead,
  Delivery,
  HandoffView,
  Newcomers,
  Quota,
} from "@waybill/protocol/wire";
import type { Viewer } from "./access/access.ts";
import { allowedSetting } from "./admission/admission.ts";
import { pinKey, retireAgent } from "./admission/agent-keys.ts";
import { invitationsOf, invite, revocation } from "./admission/invitations.ts";
import type { Invitation, KnownInvitation, NewInvitation } from "./admission/invitations.ts";
import { recordAct } from "./admission/record-act.ts";
import { correlated } from "./engine/correlated.ts";
import type { Correlated } from "./engine/correlated.ts";
import type { Engine, HubNews } from "./engine/engine.ts";
import type { HubLimits } from "./engine/options.ts";
import { isParty, viewOf } from "./engine/view.ts";
import {
  changeMembers,
  namedGroup,
  namedGroups,
  removeGroup,
  setQuota,
} from "./groups/change-groups.ts";
import type { GroupChange, NamedGroup } from "./groups/change-groups.ts";
import { signCheckpoint } from "./ledger/checkpoint.ts";
import { presenceOf, presences, unknownAgent } from "./registry/presence.ts";
import type { Presence, PresenceDetail } from "./registry/presence.ts";
import type { Publication, Published } from "./registry/registry.ts";
import { currentKids, factsOf } from "./registry/rows.ts";
import type { AttachingAgent } from "./routing/agent-session.ts";
import { attachAgent } from "./routing/attach-agent.ts";
import type { Search } from "./routing/capability-search.ts";
import type { LedgerEntry, OfferedName, Page, TextPage } from "./store.ts";

/** A request that the hub makes of somebody. */
export interface HubRequest {
  readonly to: string;
  readonly method: string;
  readonly path: string;
  readonly body: string;
}

/** The space that blobs take. */
export interface BlobLoad {
  /** Of all blobs and uploads, at their full size. */
  readonly bytes: number;
  /** Uploads that are not complete. */
  readonly uploads: number;
  readonly receivedBytes: number;
}

/** What the operator of a hub may see and do, and what a server for it needs. */
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

  /** The key, if this agent has listed it. */
  async keyOf(kid: string, agent: string): Promise<KeyRecord | undefined> {
    const record = await this.#engine.registry.keyOf(kid);
    return record?.agent === agent ? record : undefined;
  }

  /** Attaches an agent that the caller has identified without a hello. */
  async attach(
    request: AttachingAgent,
    handler: (delivery: Delivery) => void,
  ): Promise<Attachment> {
    await this.#assertKnown(request.agent);
    return attachAgent(this.#engine, request, handler);
  }

  /** The same, unless the agent is attached already: then that attachment stays. */
  async attachWhereFree(
    request: AttachingAgent,
    handler: (delivery: Delivery) => void,
  ): Promise<Attachment | undefined> {
    await this.#assertKnown(request.agent);
    return this.#engine.agentSessions.has(request.agent)
      ? undefined
      : attachAgent(this.#engine, request, handler);
  }

  /** An attached agent has authenticated again: from now on its connection depends on this key. */
  async stayWith(agent: string, kid: string): Promise<void> {
    const attached = this.#engine.agentSessions.get(agent);
    if (attached === undefined || attached.kids?.[0] === kid) return;
    attached.kids = [kid];
    await this.#engine.keys.look(attached);
  }

  /** The keys of an agent that are valid now. */
  async currentKids(agent: string): Promise<readonly string[]> {
    const { store, clock } = this.#engine;
    const stored = await store.manifest(agent);
    return stored === undefined ? [] : currentKids(factsOf(stored), clock.now());
  }

  async #assertKnown(agent: string): Promise<void> {
    this.#engine.assertOpen();
    if (await this.#engine.registry.isKnown(agent)) return;
    throw unknownAgent(agent, 401);
  }

  /** Calls back for events, until it is cancelled. */
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

  /** Rejects with 503 if a commit would fail now. */
  async checkStore(): Promise<void> {
    await this.#engine.store.ledgerHead();
    await this.#engine.health.check();
  }

  /** Settles when the unsigned messages of an agent were processed; undefined if there are few. */
  framesProcessed(agent: string): Promise<void> | undefined {
    return this.#engine.agentSessions.get(agent)?.framesProcessed();
  }

  /** The key with which an attached agent has authenticated. */
  kidOf(agent: string): string | undefined {
    return this.#engine.agentSessions.get(agent)?.kids?.[0];
  }

  /** Which process of an agent is attached. */
  instanceOf(agent: string): string | undefined {
    return this.#engine.agentSessions.get(agent)?.instance;
  }

  /** What all attached agents are working on, and how much more they would take. */
  load(): { readonly attached: number; readonly inFlight: number; readonly credit: number } {
    const all = [...this.#engine.agentSessions.values()];
    return {
      attached: all.length,
      inFlight: all.reduce((sum, { heldCount }) => sum + heldCount, 0),
      credit: all.reduce((sum, { room }) => sum + room, 0),
    };
  }

  /** The space that blobs take, and the bytes uploaded since the hub was opened; zeros if it stores none. */
  blobs(): BlobLoad {
    const { blobs } = this.#engine;
    return {
      bytes: blobs?.shares.total ?? 0,
      uploads: blobs?.shares.uploads ?? 0,
      receivedBytes: blobs?.receivedBytes ?? 0,
    };
  }

  /** The bytes of a blob of any handoff. */
  readBlob(read: Omit<BlobRead, "as" | "sign">): Promise<BlobContent> {
    const { blobs } = this.#engine;
    if (blobs !== undefined) return blobs.readAsOperator(read);
    throw new WaybillError(404, "This hub stores no blobs.");
  }

  /** Whose first manifest is accepted, if the hub was told. */
  get newcomers(): Newcomers | undefined {
    return this.#engine.options.newcomers;
  }

  /** Publishes a manifest that has arrived over a network. */
  publish(manifest: string, publication: Omit<Publication, "isFromAfar">): Promise<Published> {
    return this.#engine.publish(manifest, { ...publication, isFromAfar: true });
  }

  /** Makes an invitation: its holder may enrol one agent, once, until it expires. */
  async invite(wanted: NewInvitation = {}): Promise<Invitation> {
    const { domain, clock } = this.#engine;
    const at = clock.now();
    const { invitation, change } = invite(domain, wanted, at);
    const { id, agent, expiresAt } = invitation;
    const expires_at = new Date(expiresAt).toISOString();
    await recordAct(this.#engine, { type: "invited", invitation: id, agent, expires_at }, change);
    return invitation;
  }

  /** The invitations that are not revoked, by id: open, used and expired. */
  invitations(page: Page<string>): Promise<readonly KnownInvitation[]> {
    return invitationsOf(this.#engine.store, page);
  }

  /** Revokes an unused invitation. */
  async revoke(id: string): Promise<void> {
    const change = await revocation(this.#engine.store, id);
    await recordAct(this.#engine, { type: "revoked", invitation: id }, change);
  }

  /** Allows an agent's id, or a key by its thumbprint, without an invitation. */
  async allow(who: string): Promise<void> {
    const name = allowedSetting(who);
    const from = (await this.#engine.store.setting(name)) ?? null;
    if (from !== null) return;
    await recordAct(this.#engine, { type: "allowed", who }, { name, from, to: "{}" });
  }

  /**
   * Pins a new key, by its thumbprint, to an agent that has lost its keys, and revokes its earlier
   * keys at once, not only when it publishes with the new one. Its next manifest must be signed by
   * that key. This also restores a retired agent.
   */
  pin(agent: string, kid: string): Promise<void> {
    return pinKey(this.#engine, agent, kid);
  }

  /**
   * Retires an agent: its keys are refused from now on, it offers nothing, and handoffs that wait for
   * it go to others or end. Its own handoffs continue. Only a pin restores it.
   */
  retire(agent: string): Promise<void> {
    return retireAgent(this.#engine, agent);
  }

  /** Whether an agent may do operators' work now: the hub lists it, or the group `operators` does. */
  isOperatorsAgent(agent: string): Promise<boolean> {
    return this.#engine.access.isOperators(agent);
  }

  /** The groups that operators have made, by name. */
  groups(page: Page<string>): Promise<readonly NamedGroup[]> {
    return namedGroups(this.#engine, page);
  }

  group(name: string): Promise<NamedGroup> {
    return namedGroup(this.#engine, name);
  }

  /** Adds agents to a group, which is made with its first member, and removes others. */
  changeGroup(name: string, change: GroupChange): Promise<void> {
    return changeMembers(this.#engine, name, change);
  }

  /** Sets the quota of a group; an empty quota removes it. */
  setQuota(name: string, quota: Quota): Promise<void> {
    return setQuota(this.#engine, name, quota);
  }

  /**
   * Removes a group with its quota. Capabilities that name it take work from none of its members any
   * more.
   */
  removeGroup(name: string): Promise<void> {
    return removeGroup(this.#engine, name);
  }

  /** One agent, with everything that it offers to the viewer. */
  presence(agent: string, viewer: Viewer = "operator"): Promise<PresenceDetail> {
    return presenceOf(this.#engine, agent, viewer);
  }

  /**
   * The agents, each with the first of what it offers to the viewer. Of an agent with more offers for
   * some delegators only, later ones are not counted.
   */
  agents(page: Page<string>, viewer: Viewer = "operator"): Promise<readonly Presence[]> {
    return presences(this.#engine, page, viewer);
  }

  /** In the order of `find`; without a capability, of everything offered to the viewer. */
  async search(query: Search, viewer: Viewer = "operator"): Promise<Found> {
    this.#engine.assertOpen();
    const { search, clock } = this.#engine;
    return search.find(query, clock.now(), viewer);
  }

  /** The names of the capabilities offered to the viewer. */
  async capabilityNames(
    page: Page<string>,
    viewer: Viewer = "operator",
  ): Promise<readonly OfferedName[]> {
    const { registry, access } = this.#engine;
    return registry.offered.names(page, await access.audiencesOf(viewer));
  }

  /** As an operator sees it, or, with `as`, one of its parties. */
  async handoff(id: string, as?: string): Promise<HandoffView | undefined> {
    const record = (await this.#engine.records.load(id))?.record;
    if (record === undefined || (as !== undefined && !isParty(record, as))) return undefined;
    return viewOf(this.#engine, record);
  }

  /**
   * The handoffs under one correlation id, by id; with `as`, those to which it is party. `last` is the
   * cursor, also if the page has ended early for its size.
   */
  correlated(correlationId: string, page: Page<string>, as?: string): Promise<Correlated> {
    return correlated(this.#engine, correlationId, page, as);
  }

  /** The records of a handoff. */
  history(id: string, page: TextPage<number>): Promise<readonly LedgerEntry[]> {
    return this.#engine.store.ledgerOf(id, page);
  }

  /** The hub's signature for the current end of its ledger. */
  async checkpoint(): Promise<string> {
    const { store, clock, options } = this.#engine;
    return signCheckpoint(await store.ledgerHead(), clock.now(), options.key);
  }
}
