import type { Digest } from "./digest.ts";

/** How a JWS is signed: alone, or together with others. */
export type Algorithm = "Ed25519" | "Ed25519-batch";

/** A JWS with a verified signature. */
export interface Verified {
  readonly alg: Algorithm;
  readonly kid: string;
  /** Exactly the text that was signed. */
  readonly payload: string;
  /** Of its key and its payload: the same whether it is signed alone or with others. */
  readonly digest: Digest;
}
