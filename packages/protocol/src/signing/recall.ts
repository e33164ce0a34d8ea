import type { Limits } from "../limits.ts";
import { LIMITS } from "../limits.ts";
import type { Verified } from "./jws.ts";
import type { PublicKey } from "./key.ts";

/** What is on its way from one reader in this process to the next: more is of no use. */
const CHARACTERS_KEPT = 512 * 1024;

interface Recalled {
  readonly verified: Verified;
  readonly publicKey: string;
}

let young = new Map<string, Recalled>();
let old = new Map<string, Recalled>();
let youngCharacters = 0;

/** That a signature fits a text and a key is so whoever asks. */
export function recall(
  text: unknown,
  keyOf: (kid: string) => PublicKey | undefined,
  { envelopeBytes = LIMITS.envelopeBytes }: Partial<Limits> = LIMITS,
): Verified | undefined {
  const known = young.get(text as string) ?? old.get(text as string);
  if (known === undefined || (text as string).length > envelopeBytes) return undefined;
  const { verified, publicKey } = known;
  return keyOf(verified.kid)?.jwk.x === publicKey ? verified : undefined;
}

/** What is recalled was verified under a key whose name follows from it. */
export function remember(text: string, verified: Verified, { jwk }: PublicKey): void {
  young.set(text, { verified, publicKey: jwk.x });
  youngCharacters += text.length;
  if (youngCharacters <= CHARACTERS_KEPT / 2) return;
  old = young;
  young = new Map();
  youngCharacters = 0;
}
