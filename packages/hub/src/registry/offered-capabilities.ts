import { compileSchema } from "@waybill/protocol";
import { decideTrust, EVERYBODY } from "@waybill/protocol/hub";
import type { Capability, TrustPolicy } from "@waybill/protocol";
import type { Candidate, TrustDecision } from "@waybill/protocol/hub";
import { BoundedCache } from "@waybill/protocol/wire";
import { byText } from "../memory-store/id-index.ts";
import type { OfferedName, OfferPlace, Page, Store, StoredOffer } from "../store.ts";
import { cursorText } from "./capability-cursor.ts";
import { currentKids, factsOf, RESTRICTED, termsOf } from "./rows.ts";
import type { CapabilityTerms } from "./rows.ts";

/** A capability of an agent, as far as it is known without its text. */
export interface OfferedCapability extends OfferPlace {
  readonly terms: CapabilityTerms;
  /** The length of its text. */
  readonly characters: number;
  /** Of the manifest that offers it. */
  readonly sequence: number;
  readonly trust: TrustDecision;
  /** Whether its agent has a valid key then: without one, none of its claims is trusted. */
  readonly hasKeyAt: (at: number) => boolean;
}

/** The same with the text read. */
export type ReadCapability = Pick<Candidate, "capability" | "inputSchema">;

/** The audiences of a search; undefined for an operator, who sees everything. */
export type Audiences = readonly string[] | undefined;

interface FirstOffered {
  readonly offers: readonly OfferedCapability[];
  readonly isRestricted: boolean;
}

const OFFERS_KEPT = 20_000;
/** A parsed capability takes several times the memory of its text. */
const CAPABILITY_CHARACTERS_KEPT = 4 * 1024 * 1024;
/** The limits of one manifest. */
const OFFERS_OF_AGENT = 256;
/** How many agents that offer a capability are cached. */
export const FIRST_OFFERED = 100;

/**
 * What agents offer, from the manifests in the store. It caches recent reads, within bounds, and never
 * reads a manifest to find out who offers what.
 */
export class OfferedCapabilities {
  readonly #store: Store;
  readonly #trust: TrustPolicy;
  readonly #offersOf = new BoundedCache<string, readonly OfferedCapability[]>(
    OFFERS_KEPT,
    weightOf,
  );
  readonly #firstOffers = new BoundedCache<string, FirstOffered>(OFFERS_KEPT, ({ offers }) =>
    weightOf(offers),
  );
  readonly #capabilities = new BoundedCache<string, { read: ReadCapability; characters: number }>(
    CAPABILITY_CHARACTERS_KEPT,
    ({ characters }) => characters,
  );
  /** Counts invalidations: a value that was read before one may be outdated. */
  #forgotten = 0;

  constructor(store: Store, trust: TrustPolicy) {
    this.#store = store;
    this.#trust = trust;
  }

  /** A manifest of this agent was published, by any hub. */
  forget(agent: string): void {
    this.#forgotten++;
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

  /** What an agent offers, all of it or under one name. */
  async of(agent: string, name?: string): Promise<readonly OfferedCapability[]> {
    const offers = this.#offersOf.get(agent) ?? (await this.#readOffersOf(agent));
    return name === undefined ? offers : offers.filter((offer) => offer.name === name);
  }

  /** The first offers of an agent, by name. */
  async firstOf(agent: string, limit: number): Promise<readonly OfferedCapability[]> {
    const known = this.#offersOf.get(agent);
    if (known !== undefined) return known.slice(0, limit);
    return this.#offers(await this.#store.offers({ agent }, { limit }));
  }

  #readOffersOf(agent: string): Promise<readonly OfferedCapability[]> {
    return this.#read(
      async () => this.#offers(await this.#store.offers({ agent }, { limit: OFFERS_OF_AGENT })),
      (offers) => this.#offersOf.set(agent, offers),
    );
  }

  /** What is offered to these audiences, under one name or under all: one page. */
  async page(
    name: string | undefined,
    page: Page<OfferPlace>,
    audiences: Audiences,
  ): Promise<readonly OfferedCapability[]> {
    if (audiences === undefined) return this.#offers(await this.#store.offers({ name }, page));
    const found = await Promise.all(
      audiences.map((audience) => this.#store.offers({ name, audience }, page)),
    );
    return this.#offers(mergeByPlace(found, page.limit));
  }

  /** The first agents that offer a capability to these audiences, by id: enough to bind terms by. */
  async first(name: string, audiences: Audiences): Promise<readonly OfferedCapability[]> {
    if (audiences === undefined) return this.page(name, { limit: FIRST_OFFERED }, undefined);
    const first = await this.#firstFor(name);
    if (!first.isRestricted) return first.offers;
    return this.page(name, { limit: FIRST_OFFERED }, audiences);
  }

  /** The first of the offers for everybody, and whether there are more, for some delegators only. */
  async #firstFor(name: string): Promise<FirstOffered> {
    const known = this.#firstOffers.get(name);
    if (known !== undefined) return known;
    return this.#read(
      async () => {
        const offers = await this.page(name, { limit: FIRST_OFFERED }, [EVERYBODY]);
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
    const first = await this.first(name, audiences);
    if (first.some(({ agent }) => !except.has(agent))) return true;
    if (first.length < FIRST_OFFERED) return false;
    // Agent by agent, however many versions each of them offers.
    for (let after = afterAgent(name, first.at(-1)!.agent); ;) {
      const [next] = await this.page(name, { after, limit: 1 }, audiences);
      if (next === undefined) return false;
      if (!except.has(next.agent)) return true;
      after = afterAgent(name, next.agent);
    }
  }

  /** The capability itself; undefined if its agent has published another manifest since. */
  async read(offer: OfferedCapability): Promise<ReadCapability | undefined> {
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

  #offers(stored: readonly StoredOffer[]): OfferedCapability[] {
    let last: {
      readonly of: StoredOffer;
      readonly facts: Pick<OfferedCapability, "trust" | "hasKeyAt">;
    };
    return stored.map((each) => {
      // The offers of one agent share the facts of its manifest.
      if (last?.of.agent !== each.agent) last = { of: each, facts: this.#factsOf(each) };
      const { agent, name, version, characters, sequence } = each;
      return { agent, name, version, characters, sequence, terms: termsOf(each), ...last.facts };
    });
  }

  #factsOf(stored: StoredOffer): Pick<OfferedCapability, "trust" | "hasKeyAt"> {
    const facts = factsOf(stored);
    const { agent: agentId, digest } = stored;
    const trust = decideTrust(this.#trust, { agentId, kid: facts.kid, digest });
    return { trust, hasKeyAt: (at) => currentKids(facts, at).length > 0 };
  }
}

/** Most parsed capabilities are never used to check an input. */
function compiledLater({
  input_schema: schema,
}: Capability): NonNullable<ReadCapability["inputSchema"]> {
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
function weightOf(offers: readonly OfferedCapability[]): number {
  return offers.reduce((sum, { terms }) => sum + 1 + namesIn(terms), 1);
}

function namesIn({ from }: CapabilityTerms): number {
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
  const byPlace = new Map(lists.flat().map((offer) => [cursorText(offer), offer]));
  return [...byPlace.values()]
    .toSorted(
      (a, b) => byText(a.name, b.name) || byText(a.agent, b.agent) || byText(a.version, b.version),
    )
    .slice(0, limit);
}
