import {
  keyRecords,
  parseJson,
  parseManifest,
  publicKeyFrom,
  readCompact,
} from "@waybill/protocol";
import {
  audiencesOf,
  CAPABILITY_DEFAULTS,
  EVERYBODY,
  restoreManifest,
} from "@waybill/protocol/hub";
import type { Capability, KeyRecord, ManifestInput, VerifiedManifest } from "@waybill/protocol";
import type { PublishedManifest } from "@waybill/protocol/wire";
import type {
  KeyChange,
  ManifestCard,
  NewCapability,
  NewEntry,
  NewManifest,
  StoredKey,
  StoredOffer,
} from "../store.ts";

/** The period in which a key may sign; null if that side is open. */
type Window = readonly [notBefore: number | null, notAfter: number | null];

/** The facts of a manifest that are known without parsing it. */
export interface ManifestFacts {
  /** The key that signed it. */
  readonly kid: string;
  /** Its keys by id, with their periods. */
  readonly keys: Readonly<Record<string, Window>>;
  /** How many capabilities it has. */
  readonly capabilities: number;
  /** An operator has retired the agent: it has no keys and offers nothing. */
  readonly isRetired?: true;
  /** How many of them restrict from whom they take work. */
  readonly restricted?: number | undefined;
  readonly inbox?: string | undefined;
}

/** The facts of a capability that routing needs without parsing it. */
export type CapabilityTerms = Pick<
  Capability,
  "timeout_seconds" | "lease_seconds" | "max_attempts" | "concurrency" | "from"
>;

/** The audience under which a store finds restricted offers. No audience of the protocol has this name. */
export const RESTRICTED = "!";

/** A manifest as a store keeps it, with its index entries. */
export function newManifestOf(
  verified: VerifiedManifest,
  previous?: VerifiedManifest,
): NewManifest {
  const { manifest, digest, text, at, kid, recovery } = verified;
  const keys = [...keyRecords(verified, previous).values()].map((record) => ({
    kid: record.key.kid,
    record: keyText(record),
  }));
  // Stored so that no other agent can list it. It never verifies anything but a recovery.
  if (recovery !== undefined) {
    keys.push({ kid: recovery.kid, record: JSON.stringify({ use: "recovery" }) });
  }
  const facts: ManifestFacts = {
    kid,
    keys: Object.fromEntries([...verified.keys].map(([id, record]) => [id, windowOf(record)])),
    capabilities: manifest.capabilities.length,
    restricted: manifest.capabilities.filter(({ from }) => from !== undefined).length,
    inbox: manifest.inbox,
  };
  return {
    agent: manifest.agent_id,
    sequence: manifest.sequence,
    digest,
    at,
    facts: JSON.stringify(facts),
    text,
    keys,
    capabilities: manifest.capabilities.map(newCapabilityOf),
  };
}

/** The keys of an agent after an operator has revoked them, all but one if one is kept. */
export function endedKeys(
  stored: ManifestCard,
  records: ReadonlyMap<string, KeyRecord>,
  at: number,
  { kept, isRetired }: { readonly kept?: string; readonly isRetired: boolean },
): KeyChange {
  const { agent, sequence } = stored;
  const { isRetired: _was, ...facts } = factsOf(stored);
  const ended = [...records]
    .filter(([kid]) => kid !== kept)
    .map(([kid, record]) => [kid, { ...record, notAfter: Math.min(record.notAfter, at) }] as const);
  const windows = Object.fromEntries(ended.map(([kid, record]) => [kid, windowOf(record)]));
  const changed: ManifestFacts = {
    ...facts,
    keys: { ...facts.keys, ...windows },
    ...(isRetired && { isRetired: true, capabilities: 0, restricted: 0 }),
  };
  return {
    agent,
    sequence,
    facts: JSON.stringify(changed),
    keys: ended.map(([kid, record]) => ({ kid, record: keyText(record) })),
    isWithdrawn: isRetired,
  };
}

/** The current keys of a verified manifest: an operator may have revoked them since. */
export function asStored(
  verified: VerifiedManifest,
  { keys }: Pick<ManifestFacts, "keys">,
): VerifiedManifest {
  const current = [...verified.keys].map(([kid, record]) => {
    const [notBefore, notAfter] = keys[kid] ?? windowOf(record);
    const window = { notBefore: notBefore ?? -Infinity, notAfter: notAfter ?? Infinity };
    return [kid, { ...record, ...window }] as const;
  });
  return { ...verified, keys: new Map(current) };
}

/** The rows of an agent's manifests, by sequence, for a store of a release that kept only their texts. */
export function* rowsOfManifests(manifests: Iterable<PublishedManifest>): Generator<NewManifest> {
  let previous: VerifiedManifest | undefined;
  for (const { text, at } of manifests) {
    const before = previous;
    const keyOf = (kid: string) => before?.keys.get(kid) ?? listedKey(text, kid);
    previous = restoreManifest(text, { at, keyOf });
    yield newManifestOf(previous, before);
  }
}

/** The first manifest of an agent is signed by a key that it lists. */
function listedKey(text: string, kid: string): KeyRecord | undefined {
  const { agent_id: agent, keys } = parseManifest(parseJson(readCompact(text).payload));
  const jwk = keys.find((key) => key.kid === kid);
  return jwk && { agent, key: publicKeyFrom(jwk), notBefore: -Infinity, notAfter: Infinity };
}

function newCapabilityOf(capability: Capability): NewCapability {
  const { name, version, timeout_seconds, lease_seconds, max_attempts, concurrency, from } =
    capability;
  const terms: CapabilityTerms = {
    timeout_seconds,
    lease_seconds,
    max_attempts,
    concurrency,
    from,
  };
  const audiences = from === undefined ? [EVERYBODY] : [RESTRICTED, ...audiencesOf(capability)];
  return {
    name,
    version,
    terms: JSON.stringify(terms),
    text: JSON.stringify(capability),
    audiences,
  };
}

export function manifestEntry({ digest, text, at }: VerifiedManifest): NewEntry {
  return { at, handoffId: null, type: "manifest", content: text, digest, replayKey: null };
}

export function factsOf({ facts }: Pick<ManifestCard, "facts">): ManifestFacts {
  return JSON.parse(facts) as ManifestFacts;
}

/** An agent's description of itself, without schemas. */
export interface Description {
  readonly version: string | undefined;
  readonly description: string | undefined;
  readonly capabilities: readonly Pick<Capability, "name" | "version" | "description" | "tags">[];
}

/** Of a manifest that was verified on arrival. */
export function descriptionOf(text: string): Description {
  const { version, description, capabilities } = JSON.parse(
    readCompact(text).payload,
  ) as ManifestInput;
  return {
    version,
    description,
    capabilities: capabilities.map((each) => ({
      name: each.name,
      version: each.version ?? CAPABILITY_DEFAULTS.version,
      description: each.description,
      tags: [...(each.tags ?? [])],
    })),
  };
}

/** The keys of the manifest that are valid then: without one, none of its agent's claims is trusted. */
export function currentKids({ keys }: ManifestFacts, at: number): readonly string[] {
  return Object.entries(keys)
    .filter(([, [from, until]]) => (from ?? -Infinity) <= at && at < (until ?? Infinity))
    .map(([kid]) => kid);
}

export function termsOf({ terms }: Pick<StoredOffer, "terms">): CapabilityTerms {
  return JSON.parse(terms) as CapabilityTerms;
}

/** Undefined for a recovery key, which verifies only recoveries. */
export function keyRecordOf({ agent, record }: StoredKey): KeyRecord | undefined {
  const read = JSON.parse(record) as { use: "recovery" } | { x: string; window: Window };
  if ("use" in read) return undefined;
  const { x, window } = read;
  return {
    agent,
    key: publicKeyFrom({ kty: "OKP", crv: "Ed25519", x }),
    notBefore: window[0] ?? -Infinity,
    notAfter: window[1] ?? Infinity,
  };
}

function keyText(record: KeyRecord): string {
  return JSON.stringify({ x: record.key.jwk.x, window: windowOf(record) });
}

function windowOf({ notBefore, notAfter }: KeyRecord): Window {
  return [orNull(notBefore), orNull(notAfter)];
}

function orNull(time: number): number | null {
  return Number.isFinite(time) ? time : null;
}
