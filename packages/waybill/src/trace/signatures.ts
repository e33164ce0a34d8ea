import { keyring, verifyEnvelope, verifyManifest, WaybillError } from "@waybill/protocol";
import type { VerifiedManifest } from "@waybill/protocol";
import type { PublishedManifest } from "@waybill/hub";
import type { Signature } from "./trace.ts";

/** Checks signatures with the keys that the agents' manifests listed at that time. */
export function signatureChecker(
  manifests: Iterable<readonly PublishedManifest[]>,
): (text: string, at: number) => Signature {
  const { keyOf } = keyring([...manifests].flatMap(verified));
  return (text, at) => {
    try {
      return { holds: true, kid: verifyEnvelope(text, { keyOf, at }).kid };
    } catch (error) {
      return { holds: false, why: WaybillError.from(error).message };
    }
  };
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
