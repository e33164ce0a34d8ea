import {
  batchRoots,
  checkChain,
  digestOfJws,
  isAgentId,
  keyRecords,
  knownManifest,
  parseJson,
  parseTime,
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
import type { Clock, Hub, ReceivedAt } from "@waybill/protocol/wire";

const KEYS_KEPT = 10_000;

export interface VerifyOptions {
  /** The expected addressee. */
  readonly to?: string | undefined;
  readonly receivedAt?: ReceivedAt | undefined;
  /** There is no other reader: the verified signature need not be cached. */
  readonly isForOne?: boolean | undefined;
}

/**
 * The keys of other agents, from their signed manifests. The hub passes manifests on; it can't forge
 * them.
 */
export class Peers {
  readonly #hub: Pick<Hub, "domain" | "manifests">;
  readonly #clock: Clock;
  readonly #trust: TrustPolicy | undefined;
  readonly #keys = new Map<string, KeyRecord>();
  /** The newest accepted manifest of each agent: every later one has to follow from it. */
  readonly #heads = new Map<string, KnownManifest>();
  readonly #asked = new Map<string, Promise<void>>();
  /**
   * Separate for this agent: another reader's cache in this process says nothing about what this one
   * has verified.
   */
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

  /**
   * Verifies an envelope, and that it is addressed to this agent if `to` says so; for a handoff, that
   * it was meant for the hub it came from.
   */
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
      // Unverified: it only says whose manifest to ask for.
      const { from } = parseJson(readCompact(text).payload) as { from?: unknown };
      if (isAgentId(from)) await this.#learn(from);
    }
    // Its key may have been retired since the hub accepted it; the hub would refuse that key now.
    const at = Math.min(now, parseTime(receivedAt?.[digestOfJws(text)] ?? "") ?? now);
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
    // One page at a time, and only the keys of each manifest are kept.
    const trust = this.#trust;
    const head = this.#heads.get(agent);
    const shown: Digest[] = [];
    // To an agent that knows another key, the hub alone can't prove that it was lost.
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
