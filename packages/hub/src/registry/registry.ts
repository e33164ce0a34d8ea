import {
  batchRoots,
  compileSchema,
  digestOfJws,
  isAgentId,
  parseJson,
  readCompact,
  verifyCompact,
  verifyEnvelope,
  verifyManifest,
  WaybillError,
} from "@waybill/protocol";
import { commitOne } from "../commit-each.ts";
import {
  checkSchemas,
  decideTrust,
  EVERYBODY,
  isReservedId,
  restoreManifest,
  schemaAllowance,
} from "@waybill/protocol/hub";
import type {
  Capability,
  KeyRecord,
  Limits,
  TrustPolicy,
  VerifiedEnvelope,
  VerifiedManifest,
  VerifyOptions,
} from "@waybill/protocol";
import type { Candidate, SchemaAllowance, TrustDecision } from "@waybill/protocol/hub";
import { NO_MORE } from "../admission/admission.ts";
import { BoundedCache, newKeyAdvice } from "@waybill/protocol/wire";
import { actEntry } from "../admission/act.ts";
import type { Admission, Entry } from "../admission/admission.ts";
import { checkPin, pinOf, unlessDecided, usedPin } from "../admission/pins.ts";
import { KeyedQueue } from "../keyed-queue.ts";
import type { SchemaChecks } from "../routing/schema-checks.ts";
import type {
  KeyChange,
  NewEntry,
  OfferedName,
  OfferPlace,
  Page,
  Store,
  StoredOffer,
} from "../store.ts";
import {
  asStored,
  currentKids,
  endedKeys,
  factsOf,
  keyRecordOf,
  manifestEntry,
  newManifestOf,
  RESTRICTED,
  termsOf,
} from "./rows.ts";
import type { OfferTerms } from "./rows.ts";
import { byText } from "../memory-store/id-index.ts";
import { placeText } from "./offer-cursor.ts";

/** A capability of an agent, as far as it is known without its text. */
export interface Offer extends OfferPlace {
  readonly terms: OfferTerms;
  /** The length of its text. */
  readonly characters: number;
  /** Of the manifest that offers it. */
  readonly sequence: number;
  readonly trust: TrustDecision;
  /** Whether its agent has a valid key then: without one, none of its claims is trusted. */
  readonly hasKeyAt: (at: number) => boolean;
}

/** The same with the text read. */
export type ReadOffer = Pick<Candidate, "capability" | "inputSchema">;

/** The audiences of a search; undefined for an operator, who sees everything. */
export type Audiences = readonly string[] | undefined;

interface FirstOffers {
  readonly offers: readonly Offer[];
  readonly isRestricted: boolean;
}

export interface RegistryOptions {
  readonly store: Store;
  readonly writer: Pick<Store, "commit">;
  readonly checks: SchemaChecks;
  readonly trust: TrustPolicy;
  readonly limits: Limits;
  /** The custody domain of the hub. */
  readonly domain: string;
  /** Names that strangers must not use, nor names that look alike. */
  readonly names: readonly string[];
  readonly admission: Admission;
}

/** How a manifest has arrived, and whose it must be. */
export interface Publication extends Entry {
  readonly agent?: string | undefined;
  /** Over a network: its author may be anybody. */
  readonly isFromAfar?: boolean;
}

export interface Published {
  readonly agent: string;
  readonly sequence: number;
}

/** Names are free, so all newcomers share one budget. No agent has this name. */
const NEWCOMERS = "(newcomers)";
const KEYS_KEPT = 10_000;
/** More keys than one agent may list at a time. */
const KEYS_OF_AGENT_KEPT = 32;
const OFFERS_KEPT = 20_000;
/** A parsed capability takes several times the memory of its text. */
const CAPABILITY_CHARACTERS_KEPT = 4 * 1024 * 1024;
/** The limits of one manifest. */
const OFFERS_OF_AGENT = 256;
/** How many agents that offer a capability are cached. */
export const FIRST_OFFERS = 100;

/**
 * Knows all agents and what they offer, from the manifests in the store. It caches recent reads,
 * within bounds, and never reads a manifest to find out who offers what.
 */
export class Registry {
  readonly #store: Store;
  readonly #writer: Pick<Store, "commit">;
  readonly #checks: SchemaChecks;
  readonly #trust: TrustPolicy;
  readonly #limits: Limits;
  readonly #domain: string;
  readonly #names: readonly string[];
  readonly #admission: Admission;
  readonly #queue = new KeyedQueue();
  /** A key never changes its agent. */
  readonly #owners = new BoundedCache<string, string>(KEYS_KEPT);
  readonly #keys = new BoundedCache<string, ReadonlyMap<string, KeyRecord>>(
    KEYS_KEPT,
    (records) => records.size,
  );
  readonly #offersOf = new BoundedCache<string, readonly Offer[]>(OFFERS_KEPT, weightOf);
  readonly #firstOffers = new BoundedCache<string, FirstOffers>(OFFERS_KEPT, ({ offers }) =>
    weightOf(offers),
  );
  readonly #capabilities = new BoundedCache<string, { read: ReadOffer; characters: number }>(
    CAPABILITY_CHARACTERS_KEPT,
    ({ characters }) => characters,
  );
  readonly #roots = batchRoots();
  /** Counts invalidations: a value that was read before one may be outdated. */
  #forgotten = 0;

  constructor({ store, writer, checks, trust, limits, domain, names, admission }: RegistryOptions) {
    this.#admission = admission;
    this.#store = store;
    this.#writer = writer;
    this.#checks = checks;
    this.#trust = trust;
    this.#limits = limits;
    this.#domain = domain;
    this.#names = names;
  }

  /** A manifest of this agent was published, by any hub. */
  forget(agent: string): void {
    this.#forgotten++;
    this.#keys.delete(agent);
    this.#offersOf.delete(agent);
    this.#firstOffers.clear();
  }

  /** Caches a read, unless the value may have changed meanwhile. */
  async #read<Value>(read: () => Promise<Value>, keep: (value: Value) => unknown): Promise<Value> {
    const before = this.#forgotten;
    const value = await read();
    if (this.#forgotten === before) keep(value);
    return value;
  }

  /**
   * Verifies a received envelope; a handoff must be meant for this custody domain. It is parsed only
   * after its signature was verified with the key that it names.
   */
  async verify(text: string, at: number): Promise<VerifiedEnvelope> {
    let unknown: string | undefined;
    let record: KeyRecord | undefined;
    const keyOf = (kid: string) => {
      const known = record ?? this.#knownKey(kid);
      if (known === undefined) unknown = kid;
      return known;
    };
    const options: VerifyOptions = {
      keyOf,
      at,
      domain: this.#domain,
      limits: this.#limits,
      roots: this.#roots,
      mayRecall: true,
    };
    try {
      return verifyEnvelope(text, options);
    } catch (error) {
      if (unknown === undefined) throw error;
      record = await this.keyOf(unknown);
      // The claimed sender is not read: it is not verified.
      if (record === undefined) throw unknownKey(unknown, error);
    }
    return verifyEnvelope(text, options);
  }

  #knownKey(kid: string): KeyRecord | undefined {
    const owner = this.#owners.get(kid);
    return owner === undefined ? undefined : this.#keys.get(owner)?.get(kid);
  }

  /** Any agent's key, including retired ones. */
  async keyOf(kid: string): Promise<KeyRecord | undefined> {
    const known = this.#knownKey(kid);
    if (known !== undefined) return known;
    return this.#read(
      async () => {
        const stored = await this.#store.key(kid);
        return stored && keyRecordOf(stored);
      },
      (record) => record !== undefined && this.#keepKey(kid, record),
    );
  }

  #keepKey(kid: string, record: KeyRecord): void {
    const { agent } = record;
    const before = this.#keys.get(agent) ?? new Map<string, KeyRecord>();
    const kept = before.size < KEYS_OF_AGENT_KEPT ? before : new Map<string, KeyRecord>();
    this.#owners.set(kid, agent);
    this.#keys.set(agent, new Map([...kept, [kid, record]]));
  }

  async isKnown(agent: string): Promise<boolean> {
    return (await this.#store.manifest(agent)) !== undefined;
  }

  /** Whether an operator has retired an agent. An agent with offers usually is not, and is not looked up. */
  async isRetired(agent: string): Promise<boolean> {
    const stored = await this.#store.manifest(agent);
    return stored !== undefined && factsOf(stored).isRetired === true;
  }

  /**
   * The commit with which an operator revokes the keys of an agent, all but `kept`; undefined if the
   * agent is unknown.
   */
  async endKeys(
    agent: string,
    at: number,
    how: { readonly kept?: string; readonly isRetired: boolean },
  ): Promise<KeyChange | undefined> {
    const stored = await this.#store.manifest(agent);
    if (stored === undefined) return undefined;
    const records = new Map<string, KeyRecord>();
    for (const kid of Object.keys(factsOf(stored).keys)) {
      const record = await this.keyOf(kid);
      if (record !== undefined) records.set(kid, record);
    }
    return endedKeys(stored, records, at, how);
  }

  /** Verifies a manifest against the previous one, and records it. */
  async publish(text: string, at: number, publication: Publication): Promise<Published> {
    const { agent: expected } = publication;
    const { kid, payload } = readCompact(text, this.#limits);
    // A manifest that its known key has not signed is not parsed.
    const signer = await this.keyOf(kid);
    if (signer !== undefined) verifyCompact(text, () => signer.key, { limits: this.#limits });
    const agent = (parseJson(payload) as { agent_id?: unknown } | null)?.agent_id;
    if (!isAgentId(agent)) {
      throw new WaybillError(400, "This is not a manifest: its agent_id is not an agent id.", {
        at: "/agent_id",
      });
    }
    if (expected !== undefined && agent !== expected) {
      throw new WaybillError(
        400,
        `The manifest is for ${agent}, but it was published as ${expected}.`,
        { at: "/agent_id" },
      );
    }
    return this.#queue.run(agent, () => this.#publish(agent, text, at, publication));
  }

  async #publish(
    agent: string,
    text: string,
    at: number,
    publication: Publication,
  ): Promise<Published> {
    const { isFromAfar = false } = publication;
    const { kid: signedBy } = readCompact(text, this.#limits);
    const newcomer = { agent, kid: signedBy, manifest: digestOfJws(text) };
    let areSchemasChecked = false;
    for (;;) {
      const previous = await this.#newest(agent);
      // Refusing a newcomer must be cheap: its schemas are not compiled.
      const { isNamed, settings, entries } =
        previous === undefined ? await this.#admission.admit(newcomer, publication, at) : NO_MORE;
      const pin = await pinOf(this.#store, agent);
      if (previous !== undefined && (await this.isRetired(agent))) {
        throw retired(agent, previous.keys.has(signedBy) ? undefined : signedBy);
      }
      if (previous?.text !== text) checkPin(pin, agent, signedBy);
      const signer = await this.keyOf(signedBy);
      const allowance = schemaAllowance();
      const verified = verifyManifest(text, {
        schemas: "known",
        allowance,
        previous,
        fromFirst: true,
        at,
        trust: this.#trust,
        vouched: (kid) => kid === pin?.kid,
        keyOf: (kid) => (signer?.key.kid === kid ? signer : undefined),
      });
      const { sequence } = verified.manifest;
      if (verified === previous) return { agent, sequence };
      if (previous === undefined && isFromAfar && !isNamed) this.#checkName(verified);
      await this.#checkRecoveryKey(verified);
      if (!areSchemasChecked) {
        const who = previous === undefined ? NEWCOMERS : agent;
        await this.#checkSchemas(who, verified, allowance);
        areSchemasChecked = true;
      }
      const used = usedPin(pin, at);
      const isRecovery = previous?.keys.has(signedBy) === false && pin === undefined;
      const recovered: readonly NewEntry[] = isRecovery
        ? [actEntry(at, { type: "recovered", agent, kid: signedBy })]
        : [];
      const outcome = await commitOne(this.#writer, {
        handoff: null,
        manifest: newManifestOf(verified, previous),
        settings: [
          ...settings,
          ...used.settings,
          ...(previous === undefined ? [] : unlessDecided(agent, pin)),
        ],
        entries: [manifestEntry(verified), ...entries, ...used.entries, ...recovered],
        // A store that fails may have committed all the same.
      }).finally(() => this.forget(agent));
      if (outcome.type === "committed") return { agent, sequence };
      if (outcome.type === "key_owned") throw keyOwned(verified, outcome);
    }
  }

  /** Five hundred schemas take a while to compile: other clients have their turn in between. */
  #checkSchemas(
    who: string,
    { manifest }: VerifiedManifest,
    allowance: SchemaAllowance,
  ): Promise<void> {
    // It only counts: the allowance bounds what they may cost.
    const budget = { stepsLeft: 0 };
    const slices = checkSchemas(manifest.capabilities, { budget, allowance });
    return this.#checks.run(who, budget, slices);
  }

  /** Signatures of the agent must stay verifiable: a key that has signed can't become a recovery key. */
  async #checkRecoveryKey({ manifest, recovery }: VerifiedManifest): Promise<void> {
    if (recovery === undefined || (await this.keyOf(recovery.kid)) === undefined) return;
    throw new WaybillError(
      409,
      `The manifest of ${manifest.agent_id} lists ${recovery.kid} as its recovery key, but an earlier manifest lists it for signing. Create a separate key: waybill keys recovery <file> --for ${manifest.agent_id}`,
      { at: "/keys" },
    );
  }

  /** People trust names; a stranger must not choose a misleading one. */
  #checkName({ manifest: { agent_id: agentId }, kid, digest }: VerifiedManifest): void {
    if (!isReservedId(agentId, this.#names)) return;
    if (decideTrust(this.#trust, { agentId, kid, digest }).by !== "first_use") return;
    throw new WaybillError(
      403,
      `The name ${agentId} is reserved for the operators of this hub: names that begin like "operator" or "hub", or that look like a name of the hub or of its operators, can't be enrolled. Use another name (--agent, with --key), or ask the hub's operator to allow this key: waybill agents allow ${kid}`,
      { at: "/agent_id" },
    );
  }

  async #newest(agent: string): Promise<VerifiedManifest | undefined> {
    const stored = await this.#store.manifest(agent);
    if (stored === undefined) return undefined;
    const { text, at } = stored;
    const facts = factsOf(stored);
    const signer = await this.keyOf(facts.kid);
    return asStored(restoreManifest(text, { at, keyOf: () => signer }), facts);
  }

  /** What an agent offers, all of it or under one name. */
  async offersOf(agent: string, name?: string): Promise<readonly Offer[]> {
    const offers = this.#offersOf.get(agent) ?? (await this.#readOffersOf(agent));
    return name === undefined ? offers : offers.filter((offer) => offer.name === name);
  }

  /** The first offers of an agent, by name. */
  async firstOffersOf(agent: string, limit: number): Promise<readonly Offer[]> {
    const known = this.#offersOf.get(agent);
    if (known !== undefined) return known.slice(0, limit);
    return this.#offers(await this.#store.offers({ agent }, { limit }));
  }

  #readOffersOf(agent: string): Promise<readonly Offer[]> {
    return this.#read(
      async () => this.#offers(await this.#store.offers({ agent }, { limit: OFFERS_OF_AGENT })),
      (offers) => this.#offersOf.set(agent, offers),
    );
  }

  /** What is offered to these audiences, under one name or under all: one page. */
  async offering(
    name: string | undefined,
    page: Page<OfferPlace>,
    audiences: Audiences,
  ): Promise<readonly Offer[]> {
    if (audiences === undefined) return this.#offers(await this.#store.offers({ name }, page));
    const found = await Promise.all(
      audiences.map((audience) => this.#store.offers({ name, audience }, page)),
    );
    return this.#offers(mergeByPlace(found, page.limit));
  }

  /** The first agents that offer a capability to these audiences, by id: enough to bind terms by. */
  async firstOffers(name: string, audiences: Audiences): Promise<readonly Offer[]> {
    if (audiences === undefined) return this.offering(name, { limit: FIRST_OFFERS }, undefined);
    const first = await this.#first(name);
    if (!first.isRestricted) return first.offers;
    return this.offering(name, { limit: FIRST_OFFERS }, audiences);
  }

  /** The first of the offers for everybody, and whether there are more, for some delegators only. */
  async #first(name: string): Promise<FirstOffers> {
    const known = this.#firstOffers.get(name);
    if (known !== undefined) return known;
    return this.#read(
      async () => {
        const offers = await this.offering(name, { limit: FIRST_OFFERS }, [EVERYBODY]);
        const by = { name, audience: RESTRICTED };
        const isRestricted = (await this.#store.offers(by, { limit: 1 })).length > 0;
        return { offers, isRestricted };
      },
      (first) => {
        // An empty result is not cached: another hub may have published an offer by then.
        if (first.offers.length > 0 || first.isRestricted) this.#firstOffers.set(name, first);
      },
    );
  }

  /** Whether any other agent offers it to these audiences. */
  async isOffered(
    name: string,
    except: ReadonlySet<string>,
    audiences: Audiences,
  ): Promise<boolean> {
    const first = await this.firstOffers(name, audiences);
    if (first.some(({ agent }) => !except.has(agent))) return true;
    if (first.length < FIRST_OFFERS) return false;
    // Agent by agent, however many versions each of them offers.
    for (let after = afterAgent(name, first.at(-1)!.agent); ;) {
      const [next] = await this.offering(name, { after, limit: 1 }, audiences);
      if (next === undefined) return false;
      if (!except.has(next.agent)) return true;
      after = afterAgent(name, next.agent);
    }
  }

  /** The capability itself; undefined if its agent has published another manifest since. */
  async read(offer: Offer): Promise<ReadOffer | undefined> {
    const { agent, name, version, sequence } = offer;
    const place = `${agent} ${sequence} ${name} ${version}`;
    const known = this.#capabilities.get(place);
    if (known !== undefined) return known.read;
    const stored = await this.#store.capability(offer);
    if (stored?.sequence !== sequence) return undefined;
    const capability = JSON.parse(stored.text) as Capability;
    const read = { capability, inputSchema: compiledLater(capability) };
    this.#capabilities.set(place, { read, characters: stored.text.length });
    return read;
  }

  /**
   * The capability names offered to these audiences. An agent that offers one to several of them
   * counts at least once.
   */
  async names(page: Page<string>, audiences: Audiences): Promise<readonly OfferedName[]> {
    if (audiences === undefined) return this.#store.capabilityNames(page);
    const found = await Promise.all(
      audiences.map((audience) => this.#store.capabilityNames(page, audience)),
    );
    const agentsOf = new Map<string, number>();
    for (const { name, agents } of found.flat()) {
      agentsOf.set(name, Math.max(agents, agentsOf.get(name) ?? 0));
    }
    return Array.from(agentsOf, ([name, agents]) => ({ name, agents }))
      .toSorted((a, b) => byText(a.name, b.name))
      .slice(0, page.limit);
  }

  #offers(stored: readonly StoredOffer[]): Offer[] {
    let last: { readonly of: StoredOffer; readonly facts: Pick<Offer, "trust" | "hasKeyAt"> };
    return stored.map((each) => {
      // The offers of one agent share the facts of its manifest.
      if (last?.of.agent !== each.agent) last = { of: each, facts: this.#factsOf(each) };
      const { agent, name, version, characters, sequence } = each;
      return { agent, name, version, characters, sequence, terms: termsOf(each), ...last.facts };
    });
  }

  #factsOf(stored: StoredOffer): Pick<Offer, "trust" | "hasKeyAt"> {
    const facts = factsOf(stored);
    const { agent: agentId, digest } = stored;
    const trust = decideTrust(this.#trust, { agentId, kid: facts.kid, digest });
    return { trust, hasKeyAt: (at) => currentKids(facts, at).length > 0 };
  }
}

/** Most parsed capabilities are never used to check an input. */
function compiledLater({
  input_schema: schema,
}: Capability): NonNullable<ReadOffer["inputSchema"]> {
  let compiled: ReturnType<typeof compileSchema> | undefined;
  return {
    check(input, budget) {
      compiled ??= compileSchema(schema, {}, { budget });
      return compiled.check(input, budget);
    },
  };
}

/** No agent id contains a space, so this sorts after all offers of the agent and before the next agent. */
function afterAgent(name: string, agent: string): OfferPlace {
  return { name, agent: `${agent} `, version: "" };
}

/** The agents that an offer names take memory, too. */
function weightOf(offers: readonly Offer[]): number {
  return offers.reduce((sum, { terms }) => sum + 1 + namesIn(terms), 1);
}

function namesIn({ from }: OfferTerms): number {
  const { agents = [], keys = [], groups = [] } = from ?? {};
  return agents.length + keys.length + groups.length;
}

/** Each place once, in order. */
function mergeByPlace(
  lists: readonly (readonly StoredOffer[])[],
  limit: number,
): readonly StoredOffer[] {
  const [only] = lists;
  if (lists.length === 1) return only!;
  const byPlace = new Map(lists.flat().map((offer) => [placeText(offer), offer]));
  return [...byPlace.values()]
    .toSorted(
      (a, b) => byText(a.name, b.name) || byText(a.agent, b.agent) || byText(a.version, b.version),
    )
    .slice(0, limit);
}

function unknownKey(kid: string, cause: unknown): WaybillError {
  const { message } = WaybillError.from(cause, 401);
  return new WaybillError(401, `${message} ${newKeyAdvice("<agent>", kid)}`, { cause });
}

function retired(agent: string, kid: string | undefined): WaybillError {
  return new WaybillError(
    403,
    `An operator has retired ${agent}, so nothing can be published under this name. To bring the agent back, an operator has to pin a key: waybill agents pin ${agent} ${kid ?? "<thumbprint of a new key>"}`,
  );
}

function keyOwned(
  { manifest }: VerifiedManifest,
  { kid, agent }: { readonly kid: string; readonly agent: string },
): WaybillError {
  const index = manifest.keys.findIndex((key) => key.kid === kid);
  return new WaybillError(
    409,
    `The manifest of ${manifest.agent_id} lists ${kid}, which is a key of ${agent}: each agent needs its own keys.`,
    { at: `/keys/${index}` },
  );
}
