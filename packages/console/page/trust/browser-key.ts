import { digestOf, newId, publicKeyFrom, WaybillError } from "@waybill/protocol";
import type { PrivateKey, PublicJwk } from "@waybill/protocol";
import { signRequest, toBase64url } from "@waybill/protocol/wire";
import type { Prove } from "../hub/hub.ts";

/** A key that this browser made. It signs here and can't be read, not even by this page. */
export interface BrowserKey {
  readonly kid: string;
  readonly jwk: PublicJwk;
  readonly key: CryptoKey;
}

/** An agent of one hub that acts from this browser. */
export interface BrowserAgent extends BrowserKey {
  readonly agent: string;
  readonly hub: string;
  readonly domain: string;
}

/** Signs requests as this agent. */
export function proofBy(who: BrowserAgent): Prove {
  const { agent: from, hub: to, domain } = who;
  return (method, path, body) => {
    const bodyDigest = body === undefined ? undefined : digestOf(body);
    const claim = { from, to, domain, id: newId(), at: Date.now(), method, path, bodyDigest };
    return signedWith(who, (key) => signRequest(claim, key));
  };
}

/** Makes a key that can't leave this browser. */
export async function newBrowserKey(): Promise<BrowserKey> {
  const made = await newKeyPair();
  const raw = new Uint8Array(await crypto.subtle.exportKey("raw", made.publicKey));
  const { kid, jwk } = publicKeyFrom(raw);
  return { kid, jwk, key: made.privateKey };
}

async function newKeyPair(): Promise<CryptoKeyPair> {
  try {
    return await crypto.subtle.generateKey("Ed25519", false, ["sign"]);
  } catch (cause) {
    throw new WaybillError(
      400,
      "This browser can't make Ed25519 keys. Use a current version of Chrome, Edge, Firefox or Safari.",
      { cause },
    );
  }
}

const SIGNATURE_BYTES = 64;

/**
 * Signs with a key that answers later. The functions of the protocol sign at once: `make` calls one
 * of them with a key that only takes down what is to be signed, and the real signature replaces the
 * empty one at the end of its text.
 */
export async function signedWith(
  { kid, jwk, key }: BrowserKey,
  make: (key: PrivateKey) => string,
): Promise<string> {
  const messages: Uint8Array[] = [];
  const text = make({
    kid,
    jwk,
    publicKey: publicKeyFrom(jwk).publicKey,
    sign(message) {
      messages.push(message);
      return new Uint8Array(SIGNATURE_BYTES);
    },
    privateJwk() {
      throw new Error("This key can't be read.");
    },
  });
  const [message] = messages;
  if (message === undefined || messages.length > 1)
    throw new Error("One text is signed at a time.");
  const signature = await crypto.subtle.sign("Ed25519", key, message as BufferSource);
  return text.slice(0, text.lastIndexOf(".") + 1) + toBase64url(new Uint8Array(signature));
}
