import { isKeyValidAt, verifyManifest, WaybillError } from "@waybill/protocol";
import type { VerifiedManifest } from "@waybill/protocol";
import { checkDomain, manifestPages } from "@waybill/protocol/wire";
import type { PublishedManifest } from "@waybill/protocol/wire";
import type { HttpCalls } from "./http-calls.ts";

/**
 * What a hub says about itself: its id may be used by many hubs, its custody domain by those of one
 * owner.
 */
export interface HubName {
  readonly hub: string;
  readonly domain: string;
}

/**
 * Knows which hub is expected: the one whose domain or key is pinned, or else the first that answered.
 * From then on its manifests must follow from the known one.
 */
export class HubIdentity {
  readonly #url: string;
  readonly #pinned: string | undefined;
  #known: VerifiedManifest | undefined;
  #domain: string | undefined;

  constructor(url: string, pinned: string | undefined) {
    this.#url = url;
    this.#pinned = pinned;
  }

  /** Asks the hub for its identity, and returns its id if it is the expected one. */
  async meet(
    http: Pick<HttpCalls, "wellKnown" | "manifests">,
    signal: AbortSignal,
  ): Promise<HubName> {
    const { hub, domain, manifest } = await http.wellKnown(signal);
    const name = { hub, domain };
    if (this.#known?.text !== manifest || this.#domain !== domain) {
      const pages = manifestPages((query) => http.manifests(query, signal), hub);
      this.check(name, await Array.fromAsync(pages));
    }
    return name;
  }

  /** Accepts all manifests of the hub in order of their sequence, or throws. */
  check({ hub, domain }: HubName, published: readonly PublishedManifest[]): void {
    const manifests: VerifiedManifest[] = [];
    for (const { text, at } of published) {
      manifests.push(verifyManifest(text, { previous: manifests.at(-1), at }));
    }
    const newest = manifests.at(-1);
    if (newest === undefined || newest.manifest.agent_id !== hub) {
      throw new WaybillError(401, `The hub at ${this.#url} does not show a manifest of ${hub}.`);
    }
    const known = this.#known;
    if (known !== undefined && !manifests.some(({ digest }) => digest === known.digest)) {
      throw new WaybillError(401, changed(this.#url, known, newest));
    }
    checkDomain(domain, manifests);
    this.#checkPin(domain, newest);
    this.#known = newest;
    this.#domain = domain;
  }

  #checkPin(domain: string, newest: VerifiedManifest): void {
    const pinned = this.#pinned;
    if (pinned === undefined || pinned === domain) return;
    const key = newest.keys.get(pinned);
    if (key !== undefined && isKeyValidAt(key, Date.now())) return;
    throw new WaybillError(401, notPinned(this.#url, pinned, newest));
  }
}

function changed(url: string, known: VerifiedManifest, now: VerifiedManifest): string {
  return `THE HUB HAS CHANGED: ${known.manifest.agent_id} at ${url} was known by ${kids(known)}; now ${now.manifest.agent_id} is there, with ${kids(now)}, and nothing that leads from the one to the other. Either somebody else answers there, or the hub lost its key or its store. To trust what is there now, start again; to be sure of it, pin its key with hubKey.`;
}

function notPinned(url: string, pinned: string, now: VerifiedManifest): string {
  return `THIS IS NOT THE PINNED HUB: ${pinned} is neither the custody domain nor a current key of ${now.manifest.agent_id} at ${url}, which has ${kids(now)}. Either somebody else answers there, or the hub has changed its key: pin another one only if its operator confirms it.`;
}

function kids({ keys }: VerifiedManifest): string {
  return [...keys.keys()].join(", ");
}
