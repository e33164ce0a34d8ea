import { randomBytes, toBase64url } from "#platform";

const SALT_BYTES = 16;

/** 16 bytes in strict base64url. */
export const SALT: RegExp = /^[A-Za-z0-9_-]{21}[AQgw]$/;

/**
 * 128 random bits for one envelope. They are erased with its payload, so that nobody can find the
 * contents of an erased envelope by guessing them and comparing digests.
 */
export function newSalt(random: (length: number) => Uint8Array = randomBytes): string {
  return toBase64url(random(SALT_BYTES));
}

/** Whether a value can be the salt of an envelope. */
export function isSalt(value: unknown): value is string {
  return typeof value === "string" && SALT.test(value);
}
