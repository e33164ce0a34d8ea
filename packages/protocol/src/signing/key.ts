import { Point } from "@noble/ed25519";
import {
  fromBase64url,
  publicKeyOf,
  randomBytes,
  sha256,
  signer,
  toBase64url,
  utf8,
  verifier,
} from "#platform";
import { WaybillError } from "../error.ts";

/** A public key in the form of RFC 8037. */
export interface PublicJwk {
  readonly kty: "OKP";
  readonly crv: "Ed25519";
  readonly x: string;
}

/** The same with its secret, `d`. Only for the owner's key file. */
export interface PrivateJwk extends PublicJwk {
  readonly d: string;
}

/** An enrolled key of another party: it can verify, and its signatures are unambiguous. */
export interface PublicKey {
  /** The RFC 7638 thumbprint, by which headers name the key. */
  readonly kid: string;
  readonly publicKey: Uint8Array;
  readonly jwk: PublicJwk;
  verify(message: Uint8Array, signature: Uint8Array): boolean;
}

/** A key pair. The secret leaves it only through `privateJwk()`, never by being printed. */
export interface PrivateKey {
  readonly kid: string;
  readonly publicKey: Uint8Array;
  readonly jwk: PublicJwk;
  sign(message: Uint8Array): Uint8Array;
  privateJwk(): PrivateJwk;
}

const KEY_BYTES = 32;

/** A new key, in memory only: an agent that restarts without it has lost its name. */
export function generateKey(): PrivateKey {
  return privateKeyFrom(randomBytes(KEY_BYTES));
}

/** The key of a 32-byte seed, or of the output of `privateJwk()`. */
export function privateKeyFrom(source: Uint8Array | PrivateJwk): PrivateKey {
  const seed = isBytes(source) ? new Uint8Array(source) : seedOf(source);
  if (seed.length !== KEY_BYTES) {
    throw new WaybillError(
      400,
      `A private key must be a seed of 32 bytes, but this has ${seed.length}.`,
    );
  }
  const publicKey = publicKeyOf(seed);
  const jwk = jwkOf(publicKey);
  if (!isBytes(source) && source.x !== jwk.x) {
    throw new WaybillError(
      400,
      "The x and d of this private JWK do not belong together: the file mixes two keys. Restore it from a copy.",
      {
        at: "/x",
      },
    );
  }
  return {
    kid: thumbprint(publicKey),
    publicKey,
    jwk,
    sign: signer(seed),
    privateJwk: () => ({ ...jwk, d: toBase64url(seed) }),
  };
}

/**
 * Enrols a key. From now on its signatures are accepted, so this refuses every key whose signatures
 * could mean different things to different verifiers.
 */
export function publicKeyFrom(source: unknown): PublicKey {
  const publicKey = isBytes(source) ? new Uint8Array(source) : xOf(source);
  if (publicKey.length !== KEY_BYTES) {
    throw refused(
      `it has ${publicKey.length} bytes where Ed25519 has 32`,
      isBytes(source) ? undefined : "/x",
    );
  }
  const verify = verifier(publicKey);
  if (verify === undefined)
    throw refused(weaknessOf(publicKey), isBytes(source) ? undefined : "/x");
  return { kid: thumbprint(publicKey), publicKey, jwk: jwkOf(publicKey), verify };
}

/** 32 bytes in base64url: the last character holds four bits, and the other two are zero. */
export const KID: RegExp = /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/;

export function isKid(value: unknown): value is string {
  return typeof value === "string" && KID.test(value);
}

/** RFC 7638: base64url of the SHA-256 of the key's required members, sorted, without white space. */
export function thumbprint(publicKey: Uint8Array): string {
  return toBase64url(sha256(utf8(`{"crv":"Ed25519","kty":"OKP","x":"${toBase64url(publicKey)}"}`)));
}

function jwkOf(publicKey: Uint8Array): PublicJwk {
  return Object.freeze({ kty: "OKP", crv: "Ed25519", x: toBase64url(publicKey) });
}

function xOf(source: unknown): Uint8Array {
  if (typeof source !== "object" || source === null)
    throw refused("it is neither a JWK nor 32 bytes");
  if ("d" in source) {
    throw new WaybillError(
      400,
      "This JWK has the member d: it is a private key, which must not be published. " +
        "If it left this machine, replace the key; publish only kty, crv and x.",
      { at: "/d" },
    );
  }
  const { kty, crv, x } = source as { kty?: unknown; crv?: unknown; x?: unknown };
  if (kty !== "OKP") throw refused(`its kty is ${show(kty)}, not "OKP"`, "/kty");
  if (crv !== "Ed25519") throw refused(`its crv is ${show(crv)}, not "Ed25519"`, "/crv");
  const bytes = typeof x === "string" && x.length <= 64 ? fromBase64url(x) : undefined;
  if (bytes === undefined)
    throw refused("its x is not 32 bytes in strict, unpadded base64url", "/x");
  return bytes;
}

function seedOf(jwk: PrivateJwk): Uint8Array {
  const { kty, crv, d } = (jwk ?? {}) as { kty?: unknown; crv?: unknown; d?: unknown };
  const seed =
    kty === "OKP" && crv === "Ed25519" && typeof d === "string" ? fromBase64url(d) : undefined;
  if (seed !== undefined) return seed;
  // The message does not contain what was found: it may be the secret.
  throw new WaybillError(
    400,
    'A private JWK has kty "OKP", crv "Ed25519", and x and d of 32 bytes in base64url.',
  );
}

function weaknessOf(publicKey: Uint8Array): string {
  try {
    const point = Point.fromBytes(publicKey, false);
    if (point.isSmallOrder())
      return "its point is of small order, so that anybody could sign in its name";
    return "its point has a torsion component, so that verifiers would disagree about its signatures";
  } catch {
    return "its bytes are not the canonical encoding of a point on the curve";
  }
}

function refused(reason: string, at?: string): WaybillError {
  return new WaybillError(401, `The public key is refused: ${reason}.`, { at });
}

function show(value: unknown): string {
  return typeof value === "string" ? JSON.stringify(value.slice(0, 40)) : typeof value;
}

// By its tag and not `instanceof`, which is false for an array of another realm.
function isBytes(value: unknown): value is Uint8Array {
  return Object.prototype.toString.call(value) === "[object Uint8Array]";
}
