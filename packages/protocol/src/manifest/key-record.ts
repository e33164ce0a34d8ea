import type { PublicKey } from "../signing/key.ts";

/** Whose key it is, and the period (in milliseconds, the end excluded) in which it may sign. */
export interface KeyRecord {
  readonly agent: string;
  readonly key: PublicKey;
  readonly notBefore: number;
  readonly notAfter: number;
}

/** The keys that a reader knows, by thumbprint. */
export interface Keyring {
  keyOf(kid: string): KeyRecord | undefined;
}

/** Whether a key is valid at a time, given in milliseconds since 1970. */
export function isKeyValidAt({ notBefore, notAfter }: KeyRecord, at: number): boolean {
  return notBefore <= at && at < notAfter;
}
