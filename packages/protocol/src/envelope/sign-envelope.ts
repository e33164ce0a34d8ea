import type { Envelope } from "./envelope.ts";
import { stringifyJson } from "../json/json.ts";
import { signCompact, signPayloads } from "../signing/jws.ts";
import type { SignedText } from "../signing/jws.ts";
import type { PrivateKey } from "../signing/key.ts";
import { checkEnvelope } from "./verify-envelope.ts";

/**
 * Signs an envelope: checks it, serializes it once, and returns the one string that is sent.
 *
 * @example
 * ```ts
 * const text = signEnvelope(handoff, key);
 * ```
 */
export function signEnvelope(envelope: Envelope, key: PrivateKey): string {
  return signCompact(written(envelope), key);
}

/** Signs many envelopes with one signature: those that accumulated during an earlier signature or commit. */
export function signEnvelopes(envelopes: readonly Envelope[], key: PrivateKey): SignedText[] {
  return signPayloads(envelopes.map(written), key);
}

function written(envelope: Envelope): string {
  checkEnvelope(envelope);
  return stringifyJson(envelope);
}
