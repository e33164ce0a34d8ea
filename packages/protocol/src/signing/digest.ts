import { runningSha256, sha256, sha256Hex } from "#platform";

/** A SHA-256 in lower-case hex. That of an artifact is of its bytes; that of an envelope or a manifest is `digestOfJws`. */
export type Digest = `sha256:${string}`;

const DIGEST = /^sha256:[0-9a-f]{64}$/;

/** The digest of a text's UTF-8: the output of `sha256sum` for a file with that text. */
export function digestOf(text: string): Digest {
  return `sha256:${sha256Hex(text)}`;
}

/** The SHA-256 digest of some bytes, as `sha256:` and 64 hexadecimal digits. */
export function digestOfBytes(bytes: Uint8Array): Digest {
  return digestFrom(sha256(bytes));
}

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/** A hash that is computed already, written as a digest. */
export function digestFrom(hash: Uint8Array): Digest {
  let hex = "";
  for (const byte of hash) hex += HEX[byte]!;
  return `sha256:${hex}`;
}

/** A digest of bytes that arrive in pieces, and are never all in memory. */
export interface RunningDigest {
  update(bytes: Uint8Array): void;
  /** The digest of everything so far. Nothing can be added afterwards. */
  digest(): Digest;
}

/**
 * Computes a digest as the bytes pass.
 *
 * @example
 * ```ts
 * const running = runningDigest();
 * for await (const bytes of createReadStream("film.mp4")) running.update(bytes);
 * console.log(running.digest());
 * ```
 */
export function runningDigest(): RunningDigest {
  const hash = runningSha256();
  return { update: hash.update, digest: () => `sha256:${hash.hex()}` };
}

/** Whether a value is a digest in the form of `digestOfBytes`. */
export function isDigest(value: unknown): value is Digest {
  return typeof value === "string" && DIGEST.test(value);
}
