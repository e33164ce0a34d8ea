import type { Envelope } from "./envelope.ts";
import { stringifyJson } from "../json/json.ts";
import { signCompact, signCompactBatch } from "../signing/jws.ts";
import type { PrivateKey } from "../signing/key.ts";
import { checkEnvelope } from "./verify-envelope.ts";

/**
 * The one string that goes over the wire: the envelope, checked, written once, and signed.
 *
 * @example
 * ```ts
 * const text = signEnvelope(handoff, key);
 * ```
 */
export function signEnvelope(envelope: Envelope, key: PrivateKey): string {
  return signCompact(written(envelope), key);
}

/** Many envelopes under one signature: for what waits while a signature or a commit is under way. */
export function signEnvelopes(envelopes: readonly Envelope[], key: PrivateKey): string[] {
  return envelopes.length === 1
    ? [signEnvelope(envelopes[0]!, key)]
    : signCompactBatch(envelopes.map(written), key);
}

function written(envelope: Envelope): string {
  checkEnvelope(envelope);
  return stringifyJson(envelope);
}
