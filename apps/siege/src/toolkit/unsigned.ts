/// <reference types="node" />

/** A well-formed JWS around any payload and any signature part. */
export function unsigned(kid: string, payload: string, signature: Buffer, alg = "Ed25519"): string {
  const header = `{"alg":"${alg}","kid":"${kid}","typ":"waybill+jws"}`;
  const parts = [Buffer.from(header), Buffer.from(payload), signature];
  return parts.map((part) => part.toString("base64url")).join(".");
}
