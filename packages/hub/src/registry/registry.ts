import {
  batchRoots,
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
  isReservedId,
  restoreManifest,
  schemaAllowance,
} from "@waybill/protocol/hub";
import type {
  KeyRecord,
  Limits,
  TrustPolicy,
  VerifiedEnvelope,
  VerifiedManifest,
  VerifyOptions,
} from "@waybill/protocol";
import type { SchemaAllowance } from "@waybill/protocol/hub";
import { NO_MORE } from "../admission/admission.ts";
import { BoundedCache, newKeyAdvice } from "@waybill/protocol/wire";
import { actEntry } from "../admission/act.ts";
import type { Admission, Entry } from "../admission/admission.ts";
import { checkPin, pinOf, unlessDecided, usedPin } from "../admission/pins.ts";
import { KeyedQueue } from "../keyed-queue.ts";
import type { SchemaChecks } from "../routing/schema-checks.ts";
import type { KeyChange, NewEntry, Store } from "../store.ts";
import { OfferedCapabilities } from "./offered-capabilities.ts";
import { asStored, endedKeys, factsOf, keyRecordOf, manifestEntry, newManifestOf } from "./rows.ts";

export interface RegistryOptions {
  readonly store: Store;
  readonly writer: Pick<Store, "commit">;
  readonly checks: SchemaChecks;
  readonly trust: TrustPolicy;
  readonly limits: Limits;
  /** The custody domain of the hub. */
  readonly domain: string;
  /** Names that strangers must not use, nor names that look alike. */
  readonly names: () => Promise<readonly string[]>;
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
/** Knows all agents and their keys, from the manifests in the store. It caches recent reads, within bounds. */
export class Registry {
  /** What they offer. */
  readonly offered: OfferedCapabilities;
  readonly #store: Store;
  readonly #writer: Pick<Store, "commit">;
  readonly #checks: SchemaChecks;
  readonly #trust: TrustPolicy;
  readonly #limits: Limits;
  readonly #domain: string;
  readonly #names: () => Promise<readonly string[]>;
  readonly #admission: Admission;
  readonly #queue = new KeyedQueue();
  /** A key never changes its agent. */
  readonly #owners = new BoundedCache<string, string>(KEYS_KEPT);
  readonly #keys = new BoundedCache<string, ReadonlyMap<string, KeyRecord>>(
    KEYS_KEPT,
    (records) => records.size,
  );
  readonly #roots = batchRoots();
  /** Counts invalidations: a value that was read before one may be outdated. */
  #forgotten = 0;

  constructor({ store, writer, checks, trust, limits, domain, names, admission }: RegistryOptions) {
    this.offered = new OfferedCapabilities(store, trust);
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
    this.offered.forget(agent);
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
    const before = this.#forgotten;
    const stored = await this.#store.key(kid);
    const record = stored && keyRecordOf(stored);
    if (record !== undefined && this.#forgotten === before) this.#keepKey(kid, record);
    return record;
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
      if (previous === undefined && isFromAfar && !isNamed) await this.#checkName(verified);
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
  async #checkName({
    manifest: { agent_id: agentId },
    kid,
    digest,
  }: VerifiedManifest): Promise<void> {
    if (!isReservedId(agentId, await this.#names())) return;
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
