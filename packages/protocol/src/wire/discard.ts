import { WaybillError } from "../error.ts";
import { parseJson } from "../json/json.ts";
import type { Keyring } from "../manifest/key-record.ts";
import { digestOf } from "../signing/digest.ts";
import { verifyCompact } from "../signing/jws.ts";
import { checkRequestKey, readRequest } from "./request-proof.ts";

/** A request that an agent has signed, kept so that others can verify it later. */
export interface SignedRequest {
  /** The agent. */
  readonly by: string;
  /** The signed proof of the request, a compact JWS. */
  readonly request: string;
  /** The exact body for which it is signed. */
  readonly body: string;
}

/** Why somebody has discarded a dead letter, as it is on record. */
export interface Discard {
  readonly reason: string;
  /** Undefined if it was discarded with the operator token, which signs nothing that others can verify. */
  readonly signed?: SignedRequest | undefined;
}

/** The path to which the discard of a dead letter is posted. */
export function discardPath(handoffId: string): string {
  return `/v1/dead-letters/${handoffId}/discard`;
}

/**
 * Verifies that the agent named in a discard has signed for this handoff and this reason; returns the
 * id of its key. `at` is the time of the entry in the ledger.
 */
export function verifyDiscard(
  handoffId: string,
  { reason, signed }: Discard & { readonly signed: SignedRequest },
  { keyOf, at }: { readonly keyOf: Keyring["keyOf"]; readonly at: number },
): string {
  const { by, request, body } = signed;
  const { claim, proof, kid } = readRequest(`Waybill ${request}`);
  const { key } = checkRequestKey(claim, keyOf(kid), at);
  verifyCompact(proof, () => key);
  const fault =
    claim.from !== by
      ? `by ${claim.from}, and the record names ${by}`
      : claim.method !== "POST" || claim.path !== discardPath(handoffId)
        ? `for ${claim.method} ${claim.path}, and not for this handoff`
        : claim.bodyDigest !== digestOf(body) || reasonIn(body) !== reason
          ? "for another reason than the record names"
          : undefined;
  if (fault === undefined) return kid;
  throw new WaybillError(401, `The discard is signed ${fault}.`);
}

function reasonIn(body: string): unknown {
  const value = parseJson(body);
  return typeof value === "object" && value !== null && "reason" in value
    ? value["reason"]
    : undefined;
}
