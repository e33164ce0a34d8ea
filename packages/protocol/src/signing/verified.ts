import type { Digest } from "./digest.ts";

/** How a JWS is signed: by itself, or together with others. */
export type Algorithm = "Ed25519" | "Ed25519-batch";

/** A JWS whose signature was checked. */
export interface Verified {
  readonly alg: Algorithm;
  readonly kid: string;
  /** Exactly the text that was signed. */
  readonly payload: string;
  /** Of the whole compact string. */
  readonly digest: Digest;
}
