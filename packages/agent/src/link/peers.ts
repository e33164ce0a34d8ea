import {
  batchRoots,
  checkChain,
  digestOf,
  isAgentId,
  keyRecords,
  knownManifest,
  parseJson,
  readCompact,
  verifyEnvelope,
  verifyManifest,
  vouchesForKey,
} from "@waybill/protocol";
import type {
  Digest,
  KeyRecord,
  KnownManifest,
  TrustPolicy,
  VerifiedEnvelope,
  VerifiedManifest,
} from "@waybill/protocol";
import { manifestPages } from "@waybill/protocol/wire";
import type { Clock } from "../clock.ts";
import type { Hub, ReceivedAt } from "../hub.ts";

const KEYS_KEPT = 10_000;

export interface VerifyOptions {
  /** Whom it must be addressed to. */
  readonly to?: string | undefined;
  readonly receivedAt?: ReceivedAt | undefined;
  /** Nobody else reads it: that its signature is good need not be remembered for another reader. */
  readonly isForOne?: boolean | undefined;
}

/** The keys of the others, from their signed manifests. The hub passes those on; it can't make them. */
export class Peers {
  readonly #hub: Pick<Hub, "domain" | "manifests">;
  readonly #clock: Clock;
  readonly #trust: TrustPolicy | undefined;
  readonly #keys = new Map<string, KeyRecord>();
  /** The newest manifest that was believed of each agent: whatever comes later leads on from it. */
  readonly #heads = new Map<string, KnownManifest>();
  readonly #asked = new Map<string, Promise<void>>();
  /** Of this agent alone: that somebody else in this process has verified a batch tells it nothing. */
  readonly #roots = batchRoots();

  constructor(
    hub: Pick<Hub, "domain" | "manifests">,
    clock: Clock,
    trust: TrustPolicy | undefined,
  ) {
    this.#hub = hub;
    this.#clock = clock;
    this.#trust = trust;
  }

  /** Checks an envelope, and that it is for this agent where `to` says so; a handoff, that it is for the hub it came from. */
  async verify(text: string, options: VerifyOptions = {}): Promise<VerifiedEnvelope> {
    const { to, receivedAt, isForOne = false } = options;
    let isKnown = true;
    const keyOf = (kid: string) => {
      const record = this.#keys.get(kid);
      isKnown = record !== undefined;
      return record;
    };
    const now = this.#clock.now();
    const { domain } = this.#hub;
    const memory = { domain, roots: this.#roots, mayRecall: !isForOne };
    try {
      return verifyEnvelope(text, { keyOf, at: now, to, ...memory });
    } catch (error) {
      if (isKnown && receivedAt === undefined) throw error;
    }
    if (!isKnown) {
      // Only a hint about whose manifest to ask for: nothing in it is believed yet.
      const { from } = parseJson(readCompact(text).payload) as { from?: unknown };
      if (isAgentId(from)) await this.#learn(from);
    }
    // Its key may have been retired since the hub took it in; the hub would refuse such a key now.
    const at = Math.min(now, receivedAt?.[digestOf(text)] ?? now);
    return verifyEnvelope(text, { keyOf, at, to, ...memory });
  }

  #learn(agent: string): Promise<void> {
    let asked = this.#asked.get(agent);
    if (asked === undefined) {
      asked = this.#load(agent).finally(() => this.#asked.delete(agent));
      this.#asked.set(agent, asked);
    }
    return asked;
  }

  async #load(agent: string): Promise<void> {
    const records = new Map<string, KeyRecord>();
    let newest: VerifiedManifest | undefined;
    // One page at a time, and of each manifest no more is kept than its keys.
    const trust = this.#trust;
    const head = this.#heads.get(agent);
    const shown: Digest[] = [];
    // Whoever has known another key is not told by the hub alone that it was lost.
    const vouched = (kid: string) =>
      trust === undefined ? head === undefined : vouchesForKey(trust, agent, kid);
    for await (const { text, at } of manifestPages((query) => this.#hub.manifests(query), agent)) {
      const verified = verifyManifest(text, { previous: newest, at, vouched });
      if (verified.manifest.agent_id !== agent) return;
      for (const [kid, record] of keyRecords(verified, newest)) records.set(kid, record);
      shown.push(verified.digest);
      newest = verified;
    }
    if (newest === undefined) return;
    if (head !== undefined && !vouched(newest.kid)) checkChain(head, shown);
    verifyManifest(newest.text, { previous: newest, at: newest.at, trust });
    if (this.#keys.size > KEYS_KEPT) {
      this.#keys.clear();
      this.#heads.clear();
    }
    for (const [kid, record] of records) this.#keys.set(kid, record);
    this.#heads.set(agent, knownManifest(newest));
  }
}
