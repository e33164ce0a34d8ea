import type {
  KeyChange,
  ManifestCard,
  NewCapability,
  NewManifest,
  OfferedName,
  OfferPlace,
  Page,
  Store,
  StoredKey,
  StoredManifest,
  StoredOffer,
  TextPage,
} from "../store.ts";
import { byText } from "./id-index.ts";
import { take, takeTexts } from "./pages.ts";
import { SortedSet } from "./sorted-set.ts";

interface Offer extends OfferPlace, Pick<NewCapability, "terms" | "text" | "audiences"> {}

/** Positions by name, and how many agents there are under each name. */
class OfferIndex {
  readonly #places = new SortedSet<OfferPlace>(byPlace);
  readonly #names = new SortedSet<string>(byText);
  readonly #agentsOf = new Map<string, number>();

  get isEmpty(): boolean {
    return this.#places.isEmpty;
  }

  change(before: readonly OfferPlace[], now: readonly OfferPlace[]): void {
    for (const place of before) this.#places.delete(place);
    for (const place of now) this.#places.add(place);
    for (const name of namesOf(before)) this.#count(name, -1);
    for (const name of namesOf(now)) this.#count(name, 1);
  }

  #count(name: string, change: 1 | -1): void {
    const agents = (this.#agentsOf.get(name) ?? 0) + change;
    if (agents > 0) {
      this.#agentsOf.set(name, agents);
      this.#names.add(name);
    } else {
      this.#agentsOf.delete(name);
      this.#names.delete(name);
    }
  }

  after(place: OfferPlace | undefined): Iterable<OfferPlace> {
    return this.#places.after(place);
  }

  names({ after, limit }: Page<string>): OfferedName[] {
    return take(this.#names.after(after), limit).map((name) => ({
      name,
      agents: this.#agentsOf.get(name)!,
    }));
  }
}

/** The agents that a store holds: their manifests, keys and capabilities. */
export class RegistryState {
  readonly #manifests = new Map<string, StoredManifest[]>();
  readonly #agents = new SortedSet<string>(byText);
  readonly #keys = new Map<string, StoredKey>();
  readonly #offers = new OfferIndex();
  readonly #audiences = new Map<string, OfferIndex>();
  readonly #offersOf = new Map<string, readonly Offer[]>();

  put({ keys, capabilities, ...manifest }: NewManifest): void {
    const { agent } = manifest;
    const all = this.#manifests.get(agent) ?? [];
    all.push(manifest);
    this.#manifests.set(agent, all);
    this.#agents.add(agent);
    for (const { kid, record } of keys) this.#keys.set(kid, { kid, agent, record });
    this.#offer(agent, capabilities);
  }

  #offer(agent: string, capabilities: readonly NewCapability[]): void {
    const before = this.#offersOf.get(agent) ?? [];
    const now = capabilities.map((each) => ({ ...each, agent })).toSorted(byPlace);
    this.#offersOf.set(agent, now);
    this.#offers.change(before, now);
    const audiences = new Set([...before, ...now].flatMap((offer) => offer.audiences));
    for (const audience of audiences) {
      const index = this.#audiences.get(audience) ?? new OfferIndex();
      index.change(of(before, audience), of(now, audience));
      if (index.isEmpty) this.#audiences.delete(audience);
      else this.#audiences.set(audience, index);
    }
  }

  changeKeys({ agent, facts, keys, isWithdrawn }: KeyChange): void {
    const all = this.#manifests.get(agent)!;
    all.push({ ...all.pop()!, facts });
    for (const { kid, record } of keys) this.#keys.set(kid, { kid, agent, record });
    if (isWithdrawn) this.#offer(agent, []);
  }

  sequenceOf(agent: string): number {
    return this.manifest(agent)?.sequence ?? 0;
  }

  manifest(agent: string): StoredManifest | undefined {
    return this.#manifests.get(agent)?.at(-1);
  }

  manifests(agent: string, { after = 0, ...page }: TextPage<number>): StoredManifest[] {
    // Number n is at index n - 1.
    const later = (this.#manifests.get(agent) ?? []).slice(after, after + page.limit);
    return takeTexts(later, page, ({ text }) => text.length);
  }

  agents({ after, limit }: Page<string>): ManifestCard[] {
    return take(this.#agents.after(after), limit).map((agent) => {
      const { text: _text, ...card } = this.manifest(agent)!;
      return card;
    });
  }

  key(kid: string): StoredKey | undefined {
    return this.#keys.get(kid);
  }

  offers(
    { name, agent, audience }: Parameters<Store["offers"]>[0],
    { after, limit }: Page<OfferPlace>,
  ): StoredOffer[] {
    if (agent !== undefined) {
      const found = (this.#offersOf.get(agent) ?? []).filter(
        (offer) =>
          (name === undefined || offer.name === name) &&
          (after === undefined || byPlace(offer, after) > 0),
      );
      return take(found, limit).map((offer) => this.#stored(offer));
    }
    const start = name === undefined ? after : latest(after, { name, agent: "", version: "" });
    const index = audience === undefined ? this.#offers : this.#audiences.get(audience);
    const found = index?.after(start) ?? [];
    return take(whileNamed(found, name), limit).map((offer) => this.#stored(offer as Offer));
  }

  #stored({ name, agent, version, terms, text }: Offer): StoredOffer {
    const { sequence, digest, facts } = this.manifest(agent)!;
    return { name, agent, version, terms, characters: text.length, sequence, digest, facts };
  }

  capability(place: OfferPlace): { text: string; sequence: number } | undefined {
    const { agent } = place;
    const offer = this.#offersOf.get(agent)?.find((each) => byPlace(each, place) === 0);
    return offer && { text: offer.text, sequence: this.sequenceOf(agent) };
  }

  capabilityNames(page: Page<string>, audience?: string): OfferedName[] {
    const index = audience === undefined ? this.#offers : this.#audiences.get(audience);
    return index?.names(page) ?? [];
  }
}

function of(offers: readonly Offer[], audience: string): Offer[] {
  return offers.filter(({ audiences }) => audiences.includes(audience));
}

function byPlace(a: OfferPlace, b: OfferPlace): number {
  return byText(a.name, b.name) || byText(a.agent, b.agent) || byText(a.version, b.version);
}

function latest(a: OfferPlace | undefined, b: OfferPlace): OfferPlace {
  return a !== undefined && byPlace(a, b) > 0 ? a : b;
}

function* whileNamed(
  offers: Iterable<OfferPlace>,
  name: string | undefined,
): Generator<OfferPlace> {
  for (const offer of offers) {
    if (name !== undefined && offer.name !== name) return;
    yield offer;
  }
}

function namesOf(offers: readonly OfferPlace[]): ReadonlySet<string> {
  return new Set(offers.map(({ name }) => name));
}
