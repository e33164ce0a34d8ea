import { fromBase64url, toBase64url, utf8 } from "#platform";
import { WaybillError } from "../error.ts";
import { parseJson, stringifyJson } from "../json/json.ts";
import type { PrivateKey, PublicKey } from "../signing/key.ts";
import { readManifest } from "./manifest-schema.ts";
import type { Manifest, ManifestInput } from "./manifest-schema.ts";
import { purposeOf } from "./possession.ts";

const SIGNATURE_BYTES = 64;

/**
 * What a recovery key agrees to: exactly these keys, in this manifest of this agent. No envelope
 * begins like this.
 */
function claim({ agent_id, sequence, previous, keys }: Manifest): Uint8Array {
  const listed = keys.map((key) => `${purposeOf(key)} ${key.kid}`);
  return utf8(["waybill recovery 1", agent_id, sequence, previous, ...listed].join("\n"));
}

/**
 * Adds the signature of the previous manifest's recovery key to an update: the agent continues with
 * the keys listed here. Without it the agent could neither continue with a new key alone, nor change
 * or remove its recovery key. `key` is that recovery key.
 *
 * @example
 * ```ts
 * const keys = [next.jwk, provenRecoveryKey("anna", offline)];
 * const update = { agent_id: "anna", capabilities, keys, sequence: 2, previous };
 * const manifest = signManifest(signRecovery(update, offline), next);
 * ```
 */
export function signRecovery<Update extends ManifestInput>(
  update: Update,
  key: PrivateKey,
): Update & { recovery: string } {
  const { recovery: _recovery, ...members } = update;
  const { manifest } = readManifest(parseJson(stringifyJson(members)), "known");
  if (manifest.previous === undefined) {
    throw new WaybillError(
      400,
      `A recovery key signs an update, which has the digest of the previous manifest in previous; this is the first manifest of ${manifest.agent_id}.`,
      { at: "/previous" },
    );
  }
  return { ...update, recovery: toBase64url(key.sign(claim(manifest))) };
}

/** Whether the previous manifest's recovery key agrees to this one. Throws if another key has signed. */
export function isAgreed(manifest: Manifest, recoveryKey: PublicKey | undefined): boolean {
  const { agent_id, recovery, sequence } = manifest;
  if (recovery === undefined) return false;
  const signature = fromBase64url(recovery);
  const holds =
    signature?.length === SIGNATURE_BYTES &&
    recoveryKey?.verify(claim(manifest), signature) === true;
  if (holds) return true;
  const by =
    recoveryKey === undefined
      ? "the manifest before lists no recovery key"
      : `it is not signed by ${recoveryKey.kid}, the recovery key of the manifest before, for exactly these keys`;
  throw new WaybillError(
    401,
    `The recovery in manifest number ${sequence} of ${agent_id} is not valid: ${by}.`,
    { at: "/recovery" },
  );
}
