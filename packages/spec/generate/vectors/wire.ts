import type { Party } from "./parties.ts";
import { base64url, expand } from "./text.ts";
import type { Text } from "./text.ts";

// Written from the specification alone: signing with the package itself would prove nothing about it.

export function headerOf(alg: string, kid: string): string {
  return `{"alg":"${alg}","kid":"${kid}","typ":"waybill+jws"}`;
}

export interface JwsParts {
  /** The header's text, or its bytes; by default the correct one for the signer. */
  readonly header?: string | Uint8Array;
  /** The payload as it stands in the string, if it is not the base64url of `payload`. */
  readonly encodedPayload?: Text;
  /** The signature part of a signing input, if it is not the signer's signature of it. */
  readonly part?: (input: string) => Uint8Array;
  /** Changes the signature before it is encoded. */
  readonly tamper?: (signature: Buffer) => Uint8Array;
}

/** A JWS in compact form, signed by a party over exactly its contents. */
export function jws(payload: string | Uint8Array, signer: Party, parts: JwsParts = {}): string {
  return expand(longJws(parts.encodedPayload ?? base64url(payload), signer, parts));
}

/** The same for a payload that is already encoded and may be long. */
export function longJws(encodedPayload: Text, signer: Party, parts: JwsParts = {}): Text {
  const { header = headerOf("Ed25519", signer.kid), tamper = (signature) => signature } = parts;
  const head = `${base64url(header)}.`;
  const input = head + expand(encodedPayload);
  const signature = Buffer.from(parts.part?.(input) ?? signer.sign(input));
  const tail = `.${base64url(tamper(signature))}`;
  return typeof encodedPayload === "string"
    ? head + encodedPayload + tail
    : { concat: [head, encodedPayload, tail] };
}

export function signed(envelope: object, signer: Party, parts: JwsParts = {}): string {
  return jws(JSON.stringify(envelope), signer, parts);
}

export function flip(bytes: Uint8Array, index: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[index]! ^= 1;
  return copy;
}
