import { digestOf, isAgentId, isPrincipal, WaybillError } from "@waybill/protocol";
import { commitOne } from "./commit-each.ts";
import type { HubLimits } from "./engine/options.ts";
import type { Digest, Found, KeyRecord } from "@waybill/protocol";
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
import { actEntry } from "./admission/act.ts";
import type { Act } from "./admission/act.ts";
import { allowedSetting } from "./admission/admission.ts";
import { invitationsOf, invite, revocation } from "./admission/invitations.ts";
import { pinSetting, retiredSetting } from "./admission/pins.ts";
import type { Invitation, KnownInvitation, NewInvitation } from "./admission/invitations.ts";
import { recordOf } from "./custody/handoff-record.ts";
import type { Engine, HubNews } from "./engine/engine.ts";
import { isParty, viewOf } from "./engine/view.ts";
import type { Group } from "./groups/groups.ts";
import { slotSettings } from "./groups/minute.ts";
import { PAGE_CHARACTERS } from "./page.ts";
import { placeText } from "./registry/offer-cursor.ts";
import type { Offer } from "./registry/published-offers.ts";
import type { Publication, Published } from "./registry/registry.ts";
import { currentKids, descriptionOf, factsOf } from "./registry/rows.ts";
import type { Description } from "./registry/rows.ts";
import { attachAgent } from "./routing/attach-agent.ts";
import type { AttachingAgent } from "./routing/agent-session.ts";
import type { Search } from "./routing/capability-search.ts";
import type {
  LedgerEntry,
  ManifestCard,
  OfferedName,
  Page,
  SettingChange,
  TextPage,
} from "./store.ts";
import { signCheckpoint } from "./ledger/checkpoint.ts";

/** Whether an agent is connected, what it is working on, and what it offers. */
export interface Presence {
  readonly agent: string;
  readonly isConnected: boolean;
  /** In milliseconds since 1970; null if it was never here. A crash may lose the last moment. */
  readonly lastSeen: number | null;
  /** How many more attempts it takes. */
  readonly credit: number;
  readonly inFlight: number;
  /** Of its newest manifest. */
  readonly sequence: number;
  readonly digest: Digest;
  readonly publishedAt: number;
  readonly inbox: string | undefined;
  /** What it offers, by name; at most the first few. */
  readonly capabilities: readonly { readonly name: string; readonly version: string }[];
  readonly capabilityCount: number;
  /** An operator has retired it. */
  readonly isRetired: boolean;
}

/** The same with its own claims, and its newest manifest as it was signed. */
export interface PresenceDetail extends Omit<Presence, "capabilities">, Description {
  readonly manifest: string;
}

/** A group of agents with its name. */
export interface NamedGroup extends Group {
  readonly name: string;
}

/** Who is added to a group, and who is removed. */
export interface GroupChange {
  readonly add?: readonly string[] | undefined;
  readonly remove?: readonly string[] | undefined;
}

/** A request that the hub makes of somebody. */
export interface HubRequest {
  readonly to: string;
  readonly method: string;
  readonly path: string;
  readonly body: string;
}

/** Another operator may change groups at the same time: then a change is retried, this often. */
const GROUP_TRIES = 5;
const SLOTS_AT_ONCE = 500;
/** How many handoffs under one correlation id are searched for those of one agent. */
const LOOKED_THROUGH = 1_000;
const LOOKED_AT_ONCE = 100;
/** How many capabilities of an agent a list of agents shows. */
const CAPABILITIES_LISTED = 20;

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
  framesTaken(agent: string): Promise<void> | undefined {
    return this.#engine.agentSessions.get(agent)?.framesTaken();
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
    await this.#act({ type: "invited", invitation: id, agent, expires_at }, change);
    return invitation;
  }

  /** The invitations that are not revoked, by id: open, used and expired. */
  invitations(page: Page<string>): Promise<readonly KnownInvitation[]> {
    return invitationsOf(this.#engine.store, page);
  }

  /** Revokes an unused invitation. */
  async revoke(id: string): Promise<void> {
    await this.#act({ type: "revoked", invitation: id }, await revocation(this.#engine.store, id));
  }

  /** Allows an agent's id, or a key by its thumbprint, without an invitation. */
  async allow(who: string): Promise<void> {
    const name = allowedSetting(who);
    const from = (await this.#engine.store.setting(name)) ?? null;
    if (from === null) await this.#act({ type: "allowed", who }, { name, from, to: "{}" });
  }

  /**
   * Pins a new key, by its thumbprint, to an agent that has lost its keys, and revokes its earlier
   * keys at once, not only when it publishes with the new one. Its next manifest must be signed by
   * that key. This also restores a retired agent.
   */
  async pin(agent: string, kid: string): Promise<void> {
    const record = await this.keyOf(kid, agent);
    if (record !== undefined && record.notAfter <= this.now()) {
      throw new WaybillError(
        409,
        `The key ${kid} of ${agent} has ended, and an ended key never becomes valid again. Create a new one (waybill keys new <file>) and pin its thumbprint.`,
      );
    }
    await this.#endKeys(agent, { kept: kid, isRetired: false }, async () => {
      const name = pinSetting(agent);
      const from = (await this.#engine.store.setting(name)) ?? null;
      const retired = await this.#cleared(retiredSetting(agent));
      if (from === kid && retired.length === 0) return undefined;
      const settings = [{ name, from, to: kid }, ...retired];
      return { act: { type: "pinned", agent, kid }, settings };
    });
  }

  /**
   * Retires an agent: its keys are refused from now on, it offers nothing, and handoffs that wait for
   * it go to others or end. Its own handoffs continue. Only a pin restores it.
   */
  async retire(agent: string): Promise<void> {
    const { id, offers, router } = this.#engine;
    if (agent === id) {
      throw new WaybillError(403, `${id} is this hub, which can't retire itself: stop it instead.`);
    }
    const targets = await router.targetsOf(agent);
    await this.#endKeys(agent, { isRetired: true }, async () => {
      const name = retiredSetting(agent);
      if ((await this.#engine.store.setting(name)) !== undefined) return undefined;
      const pinned = await this.#cleared(pinSetting(agent));
      const settings = [{ name, from: null, to: "{}" }, ...pinned];
      return { act: { type: "retired", agent }, settings };
    });
    this.#engine.inBackground(offers.reconsider(targets));
  }

  /** Removes a setting, if it is there. */
  async #cleared(name: string): Promise<readonly SettingChange[]> {
    const from = await this.#engine.store.setting(name);
    return from === undefined ? [] : [{ name, from, to: null }];
  }

  /**
   * Revokes keys of an agent together with an operator's decision about it; undefined if that is
   * already so.
   */
  async #endKeys(
    agent: string,
    how: { readonly kept?: string; readonly isRetired: boolean },
    decide: () => Promise<
      { readonly act: Act; readonly settings: readonly SettingChange[] } | undefined
    >,
  ): Promise<void> {
    const { registry, keys: watch, clock } = this.#engine;
    for (;;) {
      this.#engine.assertOpen();
      const at = clock.now();
      const keys = await registry.endKeys(agent, at, how);
      if (keys === undefined) {
        const name = isAgentId(agent) ? agent : "of this name";
        throw new WaybillError(
          404,
          `No agent ${name} is enrolled here. To list the agents: waybill agents`,
        );
      }
      const decided = await decide();
      if (decided === undefined) return;
      const { act, settings } = decided;
      const commit = { handoff: null, keys, settings, entries: [actEntry(at, act)] };
      const outcome = await commitOne(this.#engine.writer, commit).finally(() =>
        registry.forget(agent),
      );
      if (outcome.type === "committed") break;
      // Its next manifest came in between, or another operator's decision.
    }
    await watch.check(agent);
  }

  /** Whether an agent may do operators' work now: the hub lists it, or the group `operators` does. */
  isOperatorsAgent(agent: string): Promise<boolean> {
    return this.#engine.access.isOperators(agent);
  }

  /** The groups that operators have made, by name. */
  async groups({ after = "", limit }: Page<string>): Promise<readonly NamedGroup[]> {
    const all = await this.#engine.groups.all();
    return all.filter(({ name }) => name > after).slice(0, limit);
  }

  async group(name: string): Promise<NamedGroup> {
    const group = await this.#engine.groups.group(name);
    if (group !== undefined) return { name, ...group };
    throw new WaybillError(
      404,
      `There is no group ${JSON.stringify(name)} here. To list the groups: waybill groups list`,
    );
  }

  /** Adds agents to a group, which is made with its first member, and removes others. */
  async changeGroup(name: string, { add = [], remove = [] }: GroupChange): Promise<void> {
    const fault = [...add, ...remove].find((member) => !isPrincipal(member));
    if (fault !== undefined) {
      throw new WaybillError(
        400,
        `${JSON.stringify(fault)} is not an agent id, nor the name of somebody for whom an agent acts.`,
        { at: "/add" },
      );
    }
    if (add.length === 0) await this.group(name);
    const next = ({ members, quota }: Group): Group => ({
      members: [...members.filter((agent) => !remove.includes(agent)), ...add],
      quota,
    });
    await this.#changeGroup(name, next, (before) => ({
      type: "group_changed",
      group: name,
      added: add.filter((agent) => !before.includes(agent)),
      removed: remove.filter((agent) => before.includes(agent) && !add.includes(agent)),
    }));
  }

  /** Sets the quota of a group; an empty quota removes it. */
  async setQuota(name: string, quota: Quota): Promise<void> {
    const { open, per_minute } = quota;
    await this.#changeGroup(
      name,
      ({ members }) => ({ members, quota: { open, per_minute } }),
      () => ({ type: "group_quota", group: name, open, per_minute }),
    );
    if (per_minute === undefined) await this.#forgetMinute(name);
  }

  /**
   * Removes a group with its quota. Capabilities that name it take work from none of its members any
   * more.
   */
  async removeGroup(name: string): Promise<void> {
    await this.group(name);
    await this.#changeGroup(
      name,
      () => undefined,
      () => ({ type: "group_removed", group: name }),
    );
    await this.#forgetMinute(name);
  }

  async #changeGroup(
    name: string,
    next: (before: Group) => Group | undefined,
    actOf: (before: readonly string[]) => Act,
  ): Promise<void> {
    const { groups, quotas, offers, clock } = this.#engine;
    this.#engine.assertOpen();
    for (let tried = 0; tried < GROUP_TRIES; tried++) {
      const members = (await groups.group(name))?.members ?? [];
      const settings = await groups.change(name, next);
      if (settings.length === 0) return;
      const entries = [actEntry(clock.now(), actOf(members))];
      const outcome = await commitOne(this.#engine.writer, { handoff: null, settings, entries });
      if (outcome.type !== "committed") continue;
      quotas.forget(name);
      offers.lookAtAllAgain();
      return;
    }
    throw changedMeanwhile();
  }

  /** After this the times of the last minute's handoffs do not matter any more. */
  async #forgetMinute(name: string): Promise<void> {
    const { store, quotas } = this.#engine;
    for (let after: string | undefined; ;) {
      const page = await store.settings(slotSettings(name), { after, limit: SLOTS_AT_ONCE });
      const settings = page.map(({ name: slot, value }) => ({ name: slot, from: value, to: null }));
      if (page.length > 0)
        await commitOne(this.#engine.writer, { handoff: null, settings, entries: [] });
      if (page.length < SLOTS_AT_ONCE) break;
      after = page.at(-1)!.name;
    }
    quotas.forget(name);
  }

  /** Records an operator's decision, together with its changes. */
  async #act(act: Act, ...settings: readonly SettingChange[]): Promise<void> {
    this.#engine.assertOpen();
    const entries = [actEntry(this.#engine.clock.now(), act)];
    const outcome = await commitOne(this.#engine.writer, { handoff: null, settings, entries });
    if (outcome.type === "committed") return;
    throw changedMeanwhile();
  }

  /** One agent, with everything that it offers to the viewer. */
  async presence(agent: string, viewer: Viewer = "operator"): Promise<PresenceDetail> {
    const { store, registry } = this.#engine;
    const stored = await store.manifest(agent);
    if (stored === undefined) throw unknownAgent(agent, 404);
    const { text } = stored;
    const offers = await this.#engine.access.takers(await registry.offers.of(agent), viewer);
    const shown = new Set(offers.map(placeText));
    const { capabilities, ...description } = descriptionOf(text);
    return {
      ...(await this.#presenceOf(stored, [])),
      ...description,
      capabilities: capabilities.filter(({ name, version }) =>
        shown.has(placeText({ name, agent, version })),
      ),
      capabilityCount: offers.length,
      manifest: text,
    };
  }

  /**
   * The agents, each with the first of what it offers to the viewer. Of an agent with more offers for
   * some delegators only, later ones are not counted.
   */
  async agents(page: Page<string>, viewer: Viewer = "operator"): Promise<readonly Presence[]> {
    const { store, registry, access } = this.#engine;
    const cards = await store.agents(page);
    return Promise.all(
      cards.map(async (card) => {
        const offers = await registry.offers.firstOf(card.agent, CAPABILITIES_LISTED);
        return this.#presenceOf(card, offers, await access.takers(offers, viewer));
      }),
    );
  }

  async #presenceOf(
    card: ManifestCard,
    looked: readonly Offer[],
    shown: readonly Offer[] = looked,
  ): Promise<Presence> {
    const { agent, sequence, digest, at } = card;
    const { agentSessions, lastSeen, clock } = this.#engine;
    const { inbox, capabilities: count, restricted = 0, isRetired = false } = factsOf(card);
    const here = agentSessions.get(agent);
    const isRestricted = ({ terms }: Offer) => terms.from !== undefined;
    // An operator, who may see all, is shown the full number.
    const hidden = shown === looked ? 0 : restricted - shown.filter(isRestricted).length;
    return {
      agent,
      isConnected: here !== undefined,
      lastSeen: here === undefined ? await lastSeen.of(agent) : clock.now(),
      credit: here?.room ?? 0,
      inFlight: here?.heldCount ?? 0,
      sequence,
      digest,
      publishedAt: at,
      inbox,
      capabilities: shown.map(({ name, version }) => ({ name, version })),
      capabilityCount: count - hidden,
      isRetired,
    };
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
    return registry.offers.names(page, await access.audiencesOf(viewer));
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
  async correlated(
    correlationId: string,
    { after, limit }: Page<string>,
    as?: string,
  ): Promise<{ readonly handoffs: readonly HandoffView[]; readonly last: string | undefined }> {
    const { store } = this.#engine;
    const handoffs: HandoffView[] = [];
    let characters = 0;
    let looked = 0;
    const size = as === undefined ? limit : LOOKED_AT_ONCE;
    for (let from = after; looked < LOOKED_THROUGH;) {
      const stored = await store.correlated(correlationId, { after: from, limit: size });
      for (const each of stored) {
        const { record } = recordOf(each);
        if (as !== undefined && !isParty(record, as)) continue;
        const view = await viewOf(this.#engine, record);
        handoffs.push(view);
        characters += charactersOf(view);
        const isFull = handoffs.length >= limit || characters >= PAGE_CHARACTERS;
        // Only an id of its own: an agent does not learn that others' exist.
        if (isFull) return { handoffs, last: each.id };
      }
      looked += stored.length;
      from = stored.at(-1)?.id;
      if (stored.length < size) break;
    }
    return { handoffs, last: undefined };
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

function changedMeanwhile(): WaybillError {
  return new WaybillError(
    503,
    "Another operator changed this at the same time. Check the current state, and try again.",
  );
}

function charactersOf({ envelope, acceptance = "", questions, ending = "" }: HandoffView): number {
  const texts = [envelope, acceptance, ending, ...questions];
  return texts.reduce((sum, { length }) => sum + length, 0);
}

function unknownAgent(agent: string, status: 401 | 404): WaybillError {
  const name = isAgentId(agent) ? agent : "this agent";
  return new WaybillError(
    status,
    `No manifest of ${name} is known here: publish one first (PUT /v1/agents/{id}).`,
  );
}
