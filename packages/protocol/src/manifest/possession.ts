import { fromBase64url, toBase64url, utf8 } from "#platform";
import { WaybillError } from "../error.ts";
import type { PrivateKey, PublicKey } from "../signing/key.ts";
import type { KeyValidity, ManifestKey } from "./manifest-schema.ts";

/** A key as a manifest lists it, with the proof that the agent holds it. */
export interface ProvenKey extends ManifestKey {
  proof: string;
}

const SIGNATURE_BYTES = 64;

/** The purposes for which a manifest may list a key. */
export type KeyPurpose = "sign" | "recover";

export function purposeOf({ use }: Pick<ManifestKey, "use">): KeyPurpose {
  return use === "recovery" ? "recover" : "sign";
}

/**
 * What a key signs to be listed: for this agent, by this thumbprint, for this purpose. No envelope
 * begins like this.
 */
function claim(agentId: string, kid: string, purpose: KeyPurpose): Uint8Array {
  return utf8(`waybill key 1\n${agentId}\n${kid}\n${purpose}`);
}

/**
 * A key for an agent's manifest, with the proof that the agent holds it. The key that signs the
 * manifest proves itself; every other one needs this.
 *
 * @example
 * ```ts
 * // The old key lists the next one, and from then on the next one signs.
 * const keys = [provenKey("anna", old), provenKey("anna", next)];
 * const both = signManifest({ agent_id: "anna", capabilities, keys, sequence: 2, previous }, old);
 * ```
 */
export function provenKey(
  agentId: string,
  { kid, jwk, sign }: PrivateKey,
  validity: KeyValidity = {},
): ProvenKey {
  return { kid, ...jwk, ...validity, proof: toBase64url(sign(claim(agentId, kid, "sign"))) };
}

/**
 * A recovery key for an agent's manifest. It is kept offline, and signs nothing but recoveries: with
 * it the agent keeps its name when its other keys are lost or stolen.
 *
 * @example
 * ```ts
 * const offline = generateKey();
 * const keys = [key.jwk, provenRecoveryKey("anna", offline)];
 * const manifest = signManifest({ agent_id: "anna", capabilities, keys }, key);
 * ```
 */
export function provenRecoveryKey(agentId: string, { kid, jwk, sign }: PrivateKey): ProvenKey {
  const proof = toBase64url(sign(claim(agentId, kid, "recover")));
  return { kid, ...jwk, use: "recovery", proof };
}

/**
 * Refuses a manifest that lists a key without proof that its agent holds it. `signer` has signed the
 * manifest.
 */
export function checkPossession(
  agentId: string,
  listed: readonly ManifestKey[],
  keys: ReadonlyMap<string, PublicKey>,
  signer: string,
): void {
  listed.forEach(({ kid, use, proof }, index) => {
    if (kid === signer) return;
    const signature = proof === undefined ? undefined : fromBase64url(proof);
    const isProven =
      signature?.length === SIGNATURE_BYTES &&
      keys.get(kid)!.verify(claim(agentId, kid, purposeOf({ use })), signature);
    if (isProven) return;
    const fault = proof === undefined ? "no proof" : "a wrong proof";
    throw new WaybillError(
      401,
      `The manifest of ${agentId} lists the key ${kid} with ${fault} that ${agentId} holds it. Every key except the one that signs the manifest needs its own signature: list it as returned by ${use === "recovery" ? "provenRecoveryKey" : "provenKey"}(agentId, key).`,
      { at: `/keys/${index}/proof` },
    );
  });
}
