import { LIMITS } from "../limits.ts";
import type { Limits } from "../limits.ts";
import type { Verified } from "./verified.ts";
import type { PublicKey } from "./key.ts";

/** Envelopes that pass from one reader in this process to the next: more entries are of no use. */
const CHARACTERS_KEPT = 512 * 1024;
/** A signature, or in a batch the leaf's place and the signature: no two envelopes share it. */
const NAME_CHARACTERS = 96;

interface CachedEnvelope {
  readonly text: string;
  readonly verified: Verified;
  readonly publicKey: string;
}

let young = new Map<string, CachedEnvelope>();
let old = new Map<string, CachedEnvelope>();
let youngCharacters = 0;

/** Whether a signature is valid for a text and a key does not depend on the reader. */
export function findVerified(
  text: unknown,
  keyOf: (kid: string) => PublicKey | undefined,
  { envelopeBytes = LIMITS.envelopeBytes }: Partial<Limits> = LIMITS,
): Verified | undefined {
  if (typeof text !== "string" || text.length > envelopeBytes) return undefined;
  const name = nameOf(text);
  const known = young.get(name) ?? old.get(name);
  if (known === undefined || known.text !== text) return undefined;
  const { verified, publicKey } = known;
  return keyOf(verified.kid)?.jwk.x === publicKey ? verified : undefined;
}

/** Adds what was verified with this key. */
export function keepVerified(text: string, verified: Verified, { jwk }: PublicKey): void {
  young.set(nameOf(text), { text, verified, publicKey: jwk.x });
  youngCharacters += text.length;
  if (youngCharacters <= CHARACTERS_KEPT / 2) return;
  old = young;
  young = new Map();
  youngCharacters = 0;
}

/** A short key, because looking up a text itself would hash all of it. */
function nameOf(text: string): string {
  const start = text.lastIndexOf(".") + 1;
  return text.slice(start, start + NAME_CHARACTERS);
}
