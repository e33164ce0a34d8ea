import { fromBase64url } from "#platform";
import { MANIFEST_LIMITS } from "./capability.ts";
import type { Digest } from "../signing/digest.ts";
import { WaybillError } from "../error.ts";
import { parseJson, stringifyJson } from "../json/json.ts";
import type { Json } from "../json/json.ts";
import { digestOfJws, readCompact, signCompact, verifyCompact } from "../signing/jws.ts";
import { publicKeyFrom, thumbprint } from "../signing/key.ts";
import type { PrivateKey, PublicKey } from "../signing/key.ts";
import { isKeyValidAt } from "./key-record.ts";
import { checkPossession } from "./possession.ts";
import { isAgreed } from "./recovery.ts";
import type { KeyRecord, Keyring } from "./key-record.ts";
import { readManifest } from "./manifest-schema.ts";
import type {
  Manifest,
  ManifestInput,
  ManifestKey,
  ReadManifest,
  SchemaHandling,
} from "./manifest-schema.ts";
import type { SchemaAllowance } from "../schema/schema.ts";
import { parseTime } from "../time.ts";
import { decideTrust } from "./trust.ts";
import type { TrustPolicy } from "./trust.ts";

export type { KeyRecord } from "./key-record.ts";

/** A manifest whose signature and place in its agent's chain of manifests have been verified. */
export interface VerifiedManifest {
  readonly manifest: Manifest;
  /** Of the exact text; the next manifest names it as `previous`. */
  readonly digest: Digest;
  /** The key that signed it. */
  readonly kid: string;
  readonly text: string;
  /** When it was verified, by the reader's clock: from then on keys that it drops are retired. */
  readonly at: number;
  /** The keys that sign the agent's messages. */
  readonly keys: ReadonlyMap<string, KeyRecord>;
  /** The key that signs recoveries of the agent, and nothing else. */
  readonly recovery: PublicKey | undefined;
}

/** How a manifest is verified: after which one, at what time, and with which trust. */
export interface VerifyManifestOptions {
  /** The agent's previous manifest; undefined if this is the first that the reader sees. */
  readonly previous?: VerifiedManifest | undefined;
  /** Whether the reader has every agent's manifests from the first one on, as a hub does. */
  readonly fromFirst?: boolean | undefined;
  readonly at: number;
  /** Which agents are trusted. By default every holder of the key, which says nothing about identity. */
  readonly trust?: TrustPolicy | undefined;
  /**
   * Whether a trusted source vouches for a key that the previous manifest does not list, as an
   * operator does with a pin after the agent has lost its keys. By default none does.
   */
  readonly vouched?: ((kid: string) => boolean) | undefined;
  /** Keys of all known agents, including old ones: nobody may list another agent's key. */
  readonly keyOf?: Keyring["keyOf"] | undefined;
  /**
   * By default the schemas are checked. `known`: they were checked before, or the caller does it, in
   * slices, by `checkSchemas`.
   */
  readonly schemas?: SchemaHandling | undefined;
  /** The budget of all its schemas. A caller that checks them in slices passes it to `checkSchemas`, too. */
  readonly allowance?: SchemaAllowance | undefined;
}

/**
 * Signs an agent's manifest. Without `keys` it lists the key that signs; every other one is listed in
 * the form that `provenKey` returns. An update has the next `sequence`, the digest of the previous
 * manifest as `previous`, and the signature of a key which that one lists.
 */
export function signManifest(manifest: ManifestInput, key: PrivateKey): string {
  const { waybill: _waybill, kind: _kind, ...members } = manifest;
  const keys = manifest.keys ?? [key.jwk];
  const sequence = manifest.sequence ?? 1;
  // No envelope has this combination of members: neither can pass for the other.
  const payload = stringifyJson({ waybill: 1, kind: "manifest", ...members, sequence, keys });
  const read = readManifest(parseJson(payload));
  if (read.manifest.sequence === 1 && !recordsOf(read).has(key.kid)) {
    throw new WaybillError(
      400,
      `The first manifest of ${manifest.agent_id} must list the key that signs it, ${key.kid}; add its public JWK to keys.`,
      { at: "/keys" },
    );
  }
  checkPossession(manifest.agent_id, read.manifest.keys, read.keys, key.kid);
  return signCompact(payload, key);
}

/**
 * Verifies a signed manifest, and that it follows from the previous one. The same text again returns
 * the same manifest and changes nothing.
 */
export function verifyManifest(text: string, options: VerifyManifestOptions): VerifiedManifest {
  const { previous, fromFirst = false, at, trust, vouched, keyOf, schemas, allowance } = options;
  if (previous !== undefined && text === previous.text) {
    checkTrust(previous, trust, true);
    return previous;
  }
  const { kid, payload } = readCompact(text);
  // For an update, older keys are tried too: an old manifest that returns is a 409, and not merely an
  // unknown signature.
  const known = previous?.keys.get(kid) ?? (previous === undefined ? undefined : keyOf?.(kid));
  if (known !== undefined) verifyCompact(text, () => known.key);
  const value = parseSigned(payload);
  if (known === undefined) {
    // A first manifest contains the key that verifies it; nothing else of it is read before.
    const key = listedKey(value, kid);
    if (key === undefined) {
      const lists =
        previous === undefined ? "it does not list" : "neither it nor the one before lists";
      const message =
        kid === previous?.recovery?.kid
          ? `The manifest is signed by ${kid}, which is a recovery key and signs recoveries only. Sign with a new key, and add what the recovery key has to sign: waybill agents rotate ${previous.manifest.agent_id} --from-recovery <file>`
          : `The manifest is signed by ${kid}, a key that ${lists}. If it is an update, verify the one before first and hand it over as previous.`;
      throw new WaybillError(401, message, { at: "/keys" });
    }
    verifyCompact(text, () => key);
  }
  const read = readManifest(value, schemas, allowance);
  const { manifest } = read;
  const digest = digestOfJws(text);
  // An old manifest that returns is refused as such, whatever it says about a recovery.
  const isOld = previous === undefined || manifest.sequence <= previous.manifest.sequence;
  const isVouched = vouched?.(kid) === true;
  const mayChange = isVouched || (!isOld && isAgreed(manifest, previous.recovery));
  const isNew = previous?.keys.has(kid) === false;
  if (previous !== undefined) {
    checkSuccession(previous, manifest, kid, digest, mayChange);
    checkRecoveryKey(previous, read, mayChange);
    if (isNew && !isVouched) checkOldKeysGone(previous, manifest);
  } else if (fromFirst) checkFirst(manifest);
  const keys = recordsOf(read);
  checkKey(kid, manifest, (isNew ? keys : (previous?.keys ?? keys)).get(kid), at);
  checkPossession(manifest.agent_id, manifest.keys, read.keys, kid);
  checkOwners(manifest, keyOf);
  const { recovery } = read;
  const verified: VerifiedManifest = { manifest, digest, kid, text, at, keys, recovery };
  checkTrust(verified, trust, previous !== undefined);
  return verified;
}

/**
 * Reads again a manifest that was verified on its arrival, at that time. The only check is that it is
 * still what was signed then, by a key that `keyOf` knows.
 */
export function restoreManifest(
  text: string,
  { at, keyOf }: { readonly at: number; readonly keyOf: Keyring["keyOf"] },
): VerifiedManifest {
  const { kid, payload, digest } = verifyCompact(text, (signer) => keyOf(signer)?.key);
  const read = readManifest(parseSigned(payload), "known");
  const { manifest, recovery } = read;
  return { manifest, digest, kid, text, at, keys: recordsOf(read), recovery };
}

function parseSigned(payload: string): { [member: string]: Json } {
  const value = parseJson(payload);
  const { waybill, kind, ...members } = isObject(value) ? value : {};
  if (waybill !== 1 || kind !== "manifest") {
    throw new WaybillError(
      400,
      'This is signed, but it is not a manifest: its payload must have "waybill": 1 and "kind": "manifest".',
      { at: waybill === 1 ? "/kind" : "/waybill" },
    );
  }
  return members;
}

function listedKey({ keys }: { [member: string]: Json }, kid: string): PublicKey | undefined {
  const listed = Array.isArray(keys) ? keys.slice(0, MANIFEST_LIMITS.keys) : [];
  const jwk = listed.find((key) => {
    if (!isObject(key) || key.use === "recovery") return false;
    const x = typeof key.x === "string" ? fromBase64url(key.x) : undefined;
    return x !== undefined && thumbprint(x) === kid;
  });
  return jwk === undefined ? undefined : publicKeyFrom(jwk);
}

function isObject(value: Json): value is { [member: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function checkSuccession(
  previous: VerifiedManifest,
  manifest: Manifest,
  kid: string,
  digest: Digest,
  mayChange: boolean,
): void {
  const before = previous.manifest;
  const { agent_id, sequence } = manifest;
  if (agent_id !== before.agent_id) {
    const message = `A manifest of ${agent_id} can't follow one of ${before.agent_id}: an agent keeps its id.`;
    throw new WaybillError(409, message, { at: "/agent_id" });
  }
  if (sequence < before.sequence) {
    const message = `The manifest of ${agent_id} goes back from number ${before.sequence} to ${sequence}: an old manifest never returns. To undo a change, publish it as number ${before.sequence + 1}.`;
    throw new WaybillError(409, message, { at: "/sequence" });
  }
  if (!previous.keys.has(kid) && !mayChange) {
    throw new WaybillError(401, keyChanged(manifest, kid, previous), { at: "/keys" });
  }
  if (sequence === before.sequence) {
    const message = `There are two manifests of ${agent_id} with number ${sequence}: ${previous.digest} is known, ${digest} came now. They differ in ${changes(before, manifest)}. Publish the change as number ${sequence + 1}.`;
    throw new WaybillError(409, message, { at: "/sequence" });
  }
  if (sequence !== before.sequence + 1) {
    const message = `The manifest of ${agent_id} has number ${sequence}, and the last one known is ${before.sequence}: those between must come first.`;
    throw new WaybillError(409, message, { at: "/sequence" });
  }
  if (manifest.previous !== previous.digest) {
    const message = `The manifest of ${agent_id} follows ${manifest.previous}, but number ${before.sequence} is ${previous.digest}: the agent's history has two branches.`;
    throw new WaybillError(409, message, { at: "/previous" });
  }
}

/** The thief of a signing key must not be able to remove the key that revokes it. */
function checkRecoveryKey(
  { recovery: before, keys: keysBefore }: VerifiedManifest,
  { manifest, recovery, keys }: ReadManifest,
  mayChange: boolean,
): void {
  const { agent_id: agent } = manifest;
  if (before !== undefined && before.kid !== recovery?.kid && !mayChange) {
    const change = recovery === undefined ? "lacks" : "changes";
    throw new WaybillError(
      401,
      `The manifest of ${agent} ${change} its recovery key ${before.kid}, and that key has not signed this. List the recovery key again. To change it, sign with it (signRecovery), or if it is lost, have an operator of the hub pin the key that signs: waybill agents pin ${agent} <thumbprint>`,
      { at: "/keys" },
    );
  }
  const wasRecovery = before !== undefined && before.kid !== recovery?.kid && keys.has(before.kid);
  const wasSigning = recovery !== undefined && keysBefore.has(recovery.kid);
  if (!wasRecovery && !wasSigning) return;
  const { kid } = wasSigning ? recovery : before!;
  throw new WaybillError(
    409,
    `The manifest of ${agent} lists ${kid} for a different use than the previous manifest: a signing key can't be a recovery key. Create a separate key.`,
    { at: "/keys" },
  );
}

/** A recovery is made because the old keys are lost or stolen. */
function checkOldKeysGone(previous: VerifiedManifest, { agent_id, keys }: Manifest): void {
  const index = keys.findIndex(({ kid }) => previous.keys.has(kid));
  if (index === -1) return;
  throw new WaybillError(
    400,
    `The recovery of ${agent_id} lists ${keys[index]!.kid}, a key of the previous manifest: a recovery ends all of them. Leave it out.`,
    { at: `/keys/${index}` },
  );
}

function checkFirst({ agent_id, sequence }: Manifest): void {
  if (sequence === 1) return;
  const message = `No manifest of ${agent_id} is known here, and this is number ${sequence}: publish the first one, with sequence 1, and those between.`;
  throw new WaybillError(409, message, { at: "/sequence" });
}

function keyChanged(manifest: Manifest, kid: string, previous: VerifiedManifest): string {
  const { sequence } = previous.manifest;
  const agent = manifest.agent_id;
  const recover =
    previous.recovery === undefined
      ? ""
      : ` If that key is lost, recover the name with the recovery key ${previous.recovery.kid}: waybill agents rotate ${agent} --from-recovery <file>.`;
  return `THE KEY HAS CHANGED: the manifest of ${agent} is signed by ${kid}, which its manifest number ${sequence} does not list. What changed: ${changes(previous.manifest, manifest)}. Either somebody else speaks in its name, or it lost its key. Sign with a key of number ${sequence}.${recover} Or have an operator of the hub pin the new key: waybill agents pin ${agent} ${kid}`;
}

/** Names the differences between two manifests, for a person who has to judge them. */
function changes(before: Manifest, after: Manifest): string {
  const members = new Set([...Object.keys(before), ...Object.keys(after)]) as Set<keyof Manifest>;
  members.delete("sequence");
  members.delete("previous");
  members.delete("recovery");
  const named = [...members]
    .filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
    .map((name) => (name === "keys" ? `keys (${keyChanges(before.keys, after.keys)})` : name));
  return named.length === 0 ? "members that this version does not read" : named.join(", ");
}

function keyChanges(before: readonly ManifestKey[], after: readonly ManifestKey[]): string {
  const lacks = (keys: readonly ManifestKey[], kid: string) => !keys.some((key) => key.kid === kid);
  const gone = before.filter(({ kid }) => lacks(after, kid)).map(({ kid }) => `without ${kid}`);
  const added = after.filter(({ kid }) => lacks(before, kid)).map(({ kid }) => `with ${kid}`);
  return [...gone, ...added].join(", ") || "other times of validity";
}

function recordsOf({ manifest, keys }: ReadManifest): Map<string, KeyRecord> {
  // A recovery key verifies nothing else.
  const signing = manifest.keys.filter(({ use }) => use !== "recovery");
  return new Map(
    signing.map(({ kid, not_before, not_after, retired_at }) => [
      kid,
      {
        agent: manifest.agent_id,
        key: keys.get(kid)!,
        notBefore: timeOr(not_before, -Infinity),
        notAfter: Math.min(timeOr(not_after, Infinity), timeOr(retired_at, Infinity)),
      },
    ]),
  );
}

function timeOr(text: string | undefined, open: number): number {
  return text === undefined ? open : parseTime(text)!;
}

function checkKey(
  kid: string,
  { agent_id }: Manifest,
  record: KeyRecord | undefined,
  at: number,
): void {
  if (record !== undefined && isKeyValidAt(record, at)) return;
  const when =
    record === undefined
      ? "it does not list"
      : at < record.notBefore
        ? "is not valid yet"
        : "is retired or has run out";
  const message = `The manifest of ${agent_id} is signed by ${kid}, which ${when}; sign with a current key.`;
  throw new WaybillError(401, message, { at: "/keys" });
}

function checkOwners({ agent_id, keys }: Manifest, keyOf: Keyring["keyOf"] | undefined): void {
  keys.forEach(({ kid }, index) => {
    const owner = keyOf?.(kid)?.agent;
    if (owner === undefined || owner === agent_id) return;
    const message = `The manifest of ${agent_id} lists ${kid}, which is a key of ${owner}: each agent needs its own keys.`;
    throw new WaybillError(409, message, { at: `/keys/${index}` });
  });
}

function checkTrust(
  { manifest, kid, digest }: VerifiedManifest,
  trust: TrustPolicy | undefined,
  isContinued: boolean,
): void {
  if (trust === undefined) return;
  const decision = decideTrust(trust, { agentId: manifest.agent_id, kid, digest, isContinued });
  if (decision.isTrusted) return;
  throw new WaybillError(decision.status, `The manifest is refused: ${decision.reason}.`);
}
