import { keyring, verifyEnvelope, verifyManifest, WaybillError } from "@waybill/protocol";
import type { VerifiedManifest } from "@waybill/protocol";
import type { PublishedManifest } from "@waybill/hub";
import { verifyDiscard } from "@waybill/protocol/wire";
import type { Discard, SignedRequest } from "@waybill/protocol/wire";
import type { Signature } from "./trace.ts";

/** The record of a discard for which an agent has signed. */
export type SignedDiscard = Discard & { readonly signed: SignedRequest };

/** Checks signatures with the keys that the agents' manifests listed at that time. */
export interface SignatureChecks {
  readonly signatureOf: (text: string, at: number) => Signature;
  /** The signature of an operators' agent for the discard of a handoff. */
  readonly discardSignatureOf: (handoff: string, discard: SignedDiscard, at: number) => Signature;
}

/** The checks with the keys of these agents' manifests. */
export function signatureChecks(
  manifests: Iterable<readonly PublishedManifest[]>,
): SignatureChecks {
  const { keyOf } = keyring([...manifests].flatMap(verified));
  return {
    signatureOf: (text, at) => checked(() => verifyEnvelope(text, { keyOf, at }).kid),
    discardSignatureOf: (handoff, discard, at) =>
      checked(() => verifyDiscard(handoff, discard, { keyOf, at })),
  };
}

function checked(verify: () => string): Signature {
  try {
    return { holds: true, kid: verify() };
  } catch (error) {
    return { holds: false, why: WaybillError.from(error).message };
  }
}

/**
 * Verifies each manifest by the one before. A manifest that does not follow vouches for no key, so
 * signatures by its keys are invalid.
 */
function verified(published: readonly PublishedManifest[]): VerifiedManifest[] {
  const all: VerifiedManifest[] = [];
  for (const { text, at } of published) {
    try {
      all.push(verifyManifest(text, { previous: all.at(-1), at }));
    } catch {
      break;
    }
  }
  return all;
}
