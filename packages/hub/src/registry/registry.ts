import {
  batchRoots,
  compileSchema,
  decideTrust,
  isAgentId,
  isKeyValidAt,
  keyring,
  parseEnvelope,
  parseJson,
  readCompact,
  verifyEnvelope,
  verifyManifest,
  WaybillError,
} from "@waybill/protocol";
import type {
  Candidate,
  Capability,
  CompiledSchema,
  KeyRecord,
  Limits,
  TrustPolicy,
  VerifiedEnvelope,
  VerifiedManifest,
  VerifyOptions,
} from "@waybill/protocol";
import { Lanes } from "../custody/lanes.ts";
import { OwnCommits } from "../custody/own-commits.ts";
import { Recent } from "../custody/recent.ts";
import type { NewEntry, Store, StoredManifest } from "../store.ts";

/** What an agent offers, as far as manifests tell. */
export interface Offered extends Pick<
  Candidate,
  "agent_id" | "capability" | "trust" | "inputSchema"
> {
  /** Whether a key of its agent is valid then: without one, nothing that it says is believed. */
  readonly hasKeyAt: (at: number) => boolean;
}

export interface RegistryOptions {
  readonly store: Store;
  readonly trust: TrustPolicy;
  readonly limits: Limits;
  /** The custody domain of the hub. */
  readonly domain: string;
}

const AGENTS_KEPT = 10_000;
const PAGE = 100;

/** Who everybody is and what they can do: the manifests of the store, verified, with their keys. */
export class Registry {
  /** What the store tells of these is no news. */
  readonly own: OwnCommits;
  readonly #store: Store;
  readonly #trust: TrustPolicy;
  readonly #limits: Limits;
  readonly #domain: string;
  readonly #lanes = new Lanes();
  readonly #agents = new Recent<string, readonly VerifiedManifest[]>(AGENTS_KEPT);
  readonly #keys = new Recent<string, KeyRecord>(AGENTS_KEPT);
  readonly #offering = new Recent<string, readonly Offered[]>(AGENTS_KEPT);
  readonly #schemas = new WeakMap<Capability, CompiledSchema>();
  readonly #roots = batchRoots();

  constructor({ store, trust, limits, domain }: RegistryOptions) {
    this.#store = store;
    this.own = new OwnCommits(store, () => this.forget());
    this.#trust = trust;
    this.#limits = limits;
    this.#domain = domain;
  }

  /** Another hub may have changed what is known. */
  forget(): void {
    this.#agents.clear();
    this.#keys.clear();
    this.#offering.clear();
  }

  /** All that is known of one agent: what it lists from now on may be other keys. */
  #forgetAgent(known: readonly VerifiedManifest[], agent: string): void {
    for (const { keys } of known) for (const kid of keys.keys()) this.#keys.delete(kid);
    this.#agents.delete(agent);
    this.#offering.clear();
  }

  /** Checks an envelope that came in; a handoff must be meant for this custody domain. */
  async verify(text: string, at: number): Promise<VerifiedEnvelope> {
    let isKnown = true;
    const keyOf = (kid: string) => {
      const record = this.#keys.get(kid);
      isKnown = record !== undefined;
      return record;
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
      if (isKnown) throw error;
    }
    await this.#learnKey(text);
    return verifyEnvelope(text, options);
  }

  async keyOf(kid: string, agent: string): Promise<KeyRecord | undefined> {
    await this.#load(agent);
    return this.#keys.get(kid);
  }

  /** The manifests of an agent by sequence. */
  manifestsOf(agent: string): Promise<readonly VerifiedManifest[]> {
    return this.#load(agent);
  }

  /** Checks a manifest against the one before and puts it on record. Gives whose it is. */
  async publish(text: string, at: number): Promise<string> {
    const { payload } = readCompact(text, this.#limits);
    const agent = (parseJson(payload) as { agent_id?: unknown } | null)?.agent_id;
    if (!isAgentId(agent)) {
      throw new WaybillError(400, "This is no manifest: its agent_id is not an agent's id.", {
        at: "/agent_id",
      });
    }
    await this.#lanes.run(agent, () => this.#publish(agent, text, at));
    return agent;
  }

  async #publish(agent: string, text: string, at: number): Promise<void> {
    for (;;) {
      await this.#loadAll();
      this.#agents.delete(agent);
      const known = await this.#load(agent);
      const previous = known.at(-1);
      const verified = verifyManifest(text, {
        previous,
        at,
        trust: this.#trust,
        keyOf: (kid) => this.#keys.get(kid),
      });
      if (verified === previous) return;
      const outcome = await this.own.commit({
        handoff: null,
        manifest: storedManifest(verified),
        entries: [manifestEntry(verified)],
      });
      this.#forgetAgent(known, agent);
      if (outcome.type === "committed") return;
    }
  }

  /** What is offered under a name, by everybody. */
  async offering(capability: string): Promise<readonly Offered[]> {
    const known = this.#offering.get(capability);
    if (known !== undefined) return known;
    const found: Offered[] = [];
    for (let after: string | undefined; ;) {
      const page = await this.#store.offering(capability, { after, limit: PAGE });
      for (const { agent } of page) {
        const manifest = (await this.#load(agent)).at(-1);
        if (manifest !== undefined) found.push(...this.#offeredBy(manifest, capability));
      }
      if (page.length < PAGE) break;
      after = page.at(-1)!.agent;
    }
    this.#offering.set(capability, found);
    return found;
  }

  async offeredBy(agent: string, capability: string): Promise<readonly Offered[]> {
    const manifest = (await this.#load(agent)).at(-1);
    return manifest === undefined ? [] : this.#offeredBy(manifest, capability);
  }

  #offeredBy(verified: VerifiedManifest, capability: string): Offered[] {
    const { manifest, kid, digest, keys } = verified;
    const hasKeyAt = (at: number) => [...keys.values()].some((key) => isKeyValidAt(key, at));
    const { agent_id: agentId } = manifest;
    const trust = decideTrust(this.#trust, { agentId, kid, digest });
    return manifest.capabilities
      .filter(({ name }) => name === capability)
      .map((each) => ({
        agent_id: agentId,
        capability: each,
        trust,
        inputSchema: this.#schemaOf(each),
        hasKeyAt,
      }));
  }

  #schemaOf(capability: Capability): CompiledSchema {
    let schema = this.#schemas.get(capability);
    if (schema === undefined) {
      schema = compileSchema(capability.input_schema);
      this.#schemas.set(capability, schema);
    }
    return schema;
  }

  /** Before an envelope is verified its `from` is only a hint about whose keys to look up. */
  async #learnKey(text: string): Promise<void> {
    const { payload } = readCompact(text, this.#limits);
    const value = parseJson(payload, this.#limits);
    const from = (value as { from?: unknown } | null)?.from;
    if (isAgentId(from)) await this.#load(from);
    // Who names nobody has sent no envelope, whosever key it is signed with.
    else parseEnvelope(payload, this.#limits);
  }

  /** Nobody may list a key of somebody else, so a new manifest is held against all there are. */
  async #loadAll(): Promise<void> {
    for (let after: string | undefined; ;) {
      const page = await this.#store.agents({ after, limit: PAGE });
      for (const { agent } of page) await this.#load(agent);
      if (page.length < PAGE) return;
      after = page.at(-1)!.agent;
    }
  }

  async #load(agent: string): Promise<readonly VerifiedManifest[]> {
    const known = this.#agents.get(agent);
    if (known !== undefined) return known;
    const manifests: VerifiedManifest[] = [];
    for (const { text, at } of await this.#store.manifests(agent)) {
      manifests.push(verifyManifest(text, { previous: manifests.at(-1), at }));
    }
    const ring = keyring(manifests);
    for (const manifest of manifests) {
      for (const kid of manifest.keys.keys()) {
        const record = ring.keyOf(kid);
        if (record !== undefined) this.#keys.set(kid, record);
      }
    }
    if (manifests.length > 0) this.#agents.set(agent, manifests);
    return manifests;
  }
}

function storedManifest({ manifest, digest, text, at }: VerifiedManifest): StoredManifest {
  return {
    agent: manifest.agent_id,
    sequence: manifest.sequence,
    digest,
    text,
    capabilities: [...new Set(manifest.capabilities.map(({ name }) => name))],
    at,
  };
}

function manifestEntry({ digest, text, at }: VerifiedManifest): NewEntry {
  return { at, handoffId: null, type: "manifest", content: text, digest, replayKey: null };
}
