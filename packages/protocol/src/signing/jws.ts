import { fromBase64url, textToBase64url, toBase64url, utf8, utf8Text } from "#platform";
import { batchRoots, faultOfBatchPart, signBatch } from "./batch.ts";
import type { BatchRoots } from "./batch.ts";
import { leafOf } from "./batch-tree.ts";
import { digestFrom } from "./digest.ts";
import type { Digest } from "./digest.ts";
import { WaybillError } from "../error.ts";
import { isWellFormed } from "../json/json-rules.ts";
import { parseJson } from "../json/json.ts";
import { KID } from "./key.ts";
import type { PrivateKey, PublicKey } from "./key.ts";
import { LIMITS } from "../limits.ts";
import type { Limits } from "../limits.ts";
import { findVerified, keepVerified } from "./verified-cache.ts";
import type { Algorithm, Verified } from "./verified.ts";

interface AlgorithmRow {
  /** What is wrong with the form of a signature part. */
  faultOf(signature: Uint8Array): string | undefined;
  isValid(jws: Unverified, leaf: Uint8Array, key: PublicKey, roots: BatchRoots): boolean;
}

/** The parts of a JWS, not verified. */
export interface Unverified {
  readonly alg: Algorithm;
  readonly kid: string;
  readonly signingInput: string;
  readonly payload: string;
  readonly signature: Uint8Array;
}

/** A JWS in compact form, and its digest. */
export interface SignedText {
  readonly text: string;
  readonly digest: Digest;
}

export interface VerifyOptions {
  limits?: Partial<Limits>;
  /** The cache of verified batch roots, by default that of the process. */
  roots?: BatchRoots | undefined;
  /** Whether to accept an earlier verification of this text and key in this process. */
  mayRecall?: boolean | undefined;
}

const SIGNATURE_BYTES = 64;

/** Every algorithm. A header selects a row or is refused. */
const ALGORITHMS: Readonly<Record<Algorithm, AlgorithmRow>> = {
  Ed25519: {
    faultOf: ({ length }) =>
      length === SIGNATURE_BYTES
        ? undefined
        : `it has ${length} bytes and Ed25519 takes ${SIGNATURE_BYTES}`,
    isValid: ({ signingInput, signature }, _, key) => key.verify(utf8(signingInput), signature),
  },
  "Ed25519-batch": {
    faultOf: faultOfBatchPart,
    isValid: ({ signature }, leaf, key, roots) => roots.hasLeaf(leaf, signature, key),
  },
};
const ALGORITHM_NAMES = Object.keys(ALGORITHMS) as Algorithm[];

const TYP = "waybill+jws";
const KID_LENGTH = 43;
/** Far above any valid header; beyond it a refusal is not explained in detail. */
const HEADER_CHARACTERS_MAX = 2048;

const processRoots = batchRoots();

/** Signs a payload, and returns the envelope as one string: a JWS in compact form. */
export function signCompact(payload: string, key: PrivateKey, limits?: Partial<Limits>): string {
  const signingInput = signingInputOf("Ed25519", payload, key);
  return compact(signingInput, key.sign(utf8(signingInput)), limits);
}

/** Signs many payloads with one signature: each is returned as an envelope of its own, in the same order. */
export function signCompactBatch(
  payloads: readonly string[],
  key: PrivateKey,
  limits?: Partial<Limits>,
): string[] {
  return signTogether(payloads, key, limits).map(({ text }) => text);
}

/** Signs payloads: a single one alone, several with one signature. */
export function signPayloads(payloads: readonly string[], key: PrivateKey): SignedText[] {
  const [first] = payloads;
  if (first === undefined || payloads.length > 1) return signTogether(payloads, key);
  return [{ text: signCompact(first, key), digest: digestFrom(leafOf(key.kid, first)) }];
}

/** The leaves that are signed are the digests, so that nothing is hashed twice. */
function signTogether(
  payloads: readonly string[],
  key: PrivateKey,
  limits?: Partial<Limits>,
): SignedText[] {
  const signingInputs = payloads.map((payload) => signingInputOf("Ed25519-batch", payload, key));
  const leaves = payloads.map((payload) => leafOf(key.kid, payload));
  return signBatch(leaves, key).map((part, index) => ({
    text: compact(signingInputs[index]!, part, limits),
    digest: digestFrom(leaves[index]!),
  }));
}

/**
 * The digest of an envelope, a manifest or a checkpoint: of its key and its payload, the same whether it
 * is signed alone or with others. The signature is not verified.
 */
export function digestOfJws(text: string): Digest {
  const { kid, payload } = readCompact(text);
  return digestFrom(leafOf(kid, payload));
}

/** Splits a JWS and checks everything that needs no key: failures here are 400 or 413. */
export function readCompact(text: unknown, limits: Partial<Limits> = LIMITS): Unverified {
  if (typeof text !== "string") {
    throw malformed(`it is ${text === null ? "null" : typeof text}, not a string`);
  }
  const { envelopeBytes = LIMITS.envelopeBytes } = limits;
  const length = bytesOf(text, envelopeBytes);
  if (length > envelopeBytes) throw tooLarge(length, envelopeBytes);
  const first = text.indexOf(".");
  const second = text.indexOf(".", first + 1);
  if (first < 0 || second < 0 || text.includes(".", second + 1)) {
    throw malformed("it does not have three parts with a dot between them");
  }
  const { alg, kid } = readHeader(text.slice(0, first));
  const bytes = fromBase64url(text.slice(first + 1, second));
  if (bytes === undefined) throw malformed("its payload is not strict, unpadded base64url");
  const payload = utf8Text(bytes);
  if (payload === undefined) throw malformed("its payload is not UTF-8");
  const signature = fromBase64url(text.slice(second + 1));
  if (signature === undefined) throw malformed("its signature is not strict, unpadded base64url");
  const fault = ALGORITHMS[alg].faultOf(signature);
  if (fault !== undefined) throw malformed(`its signature has the wrong shape: ${fault}`);
  return { alg, kid, signingInput: text.slice(0, second), payload, signature };
}

/** The size in UTF-8. A valid JWS is ASCII; only one that may be over the limit is measured. */
function bytesOf(text: string, limit: number): number {
  const { length } = text;
  return length > limit || length * 3 <= limit ? length : utf8(text).length;
}

/** Reads a JWS and verifies its signature: failures that depend on the key are 401. */
export function verifyCompact(
  text: unknown,
  keyOf: (kid: string) => PublicKey | undefined,
  options: VerifyOptions = {},
): Verified {
  if (options.mayRecall !== true) return verifyUncached(text, keyOf, options);
  const recalled = findVerified(text, keyOf, options.limits);
  if (recalled !== undefined) return recalled;
  const verified = verifyUncached(text, keyOf, options);
  keepVerified(text as string, verified, keyOf(verified.kid)!);
  return verified;
}

function verifyUncached(
  text: unknown,
  keyOf: (kid: string) => PublicKey | undefined,
  options: VerifyOptions,
): Verified {
  const jws = readCompact(text, options.limits);
  const { alg, kid, payload } = jws;
  const key = keyOf(kid);
  if (key === undefined) throw untrusted(`no key with the kid ${kid} is enrolled here`);
  if (key.kid !== kid) throw untrusted(`the key enrolled as ${kid} is really ${key.kid}`);
  const leaf = leafOf(kid, payload);
  if (!ALGORITHMS[alg].isValid(jws, leaf, key, options.roots ?? processRoots)) {
    throw untrusted(`its ${alg} signature does not fit: content or signature were changed`);
  }
  rememberHeader(alg, kid);
  return { alg, kid, payload, digest: digestFrom(leaf) };
}

function signingInputOf(alg: Algorithm, payload: string, key: PrivateKey): string {
  if (!isWellFormed(payload)) {
    throw new WaybillError(400, "The payload has a lone surrogate: it is not valid Unicode.");
  }
  return `${rememberHeader(alg, key.kid)}.${textToBase64url(payload)}`;
}

function compact(
  signingInput: string,
  signature: Uint8Array,
  limits: Partial<Limits> = LIMITS,
): string {
  const text = `${signingInput}.${toBase64url(signature)}`;
  const { envelopeBytes = LIMITS.envelopeBytes } = limits;
  if (text.length > envelopeBytes) throw tooLarge(text.length, envelopeBytes);
  return text;
}

interface Header {
  readonly alg: Algorithm;
  readonly kid: string;
}

const HEADERS_REMEMBERED = 4096;
const headers = new Map<string, Header>();
const encodedHeaders: Readonly<Record<Algorithm, Map<string, string>>> = {
  Ed25519: new Map(),
  "Ed25519-batch": new Map(),
};

/** Caches the encoded header. Only for keys that signed or verified here: strangers can't fill the memory. */
function rememberHeader(alg: Algorithm, kid: string): string {
  const known = encodedHeaders[alg].get(kid);
  if (known !== undefined) return known;
  if (headers.size >= HEADERS_REMEMBERED) {
    const [oldest, header] = headers.entries().next().value!;
    headers.delete(oldest);
    encodedHeaders[header.alg].delete(header.kid);
  }
  const encoded = textToBase64url(headerText(alg, kid));
  headers.set(encoded, { alg, kid });
  encodedHeaders[alg].set(kid, encoded);
  return encoded;
}

function headerText(alg: Algorithm, kid: string): string {
  return `{"alg":"${alg}","kid":"${kid}","typ":"${TYP}"}`;
}

/** Whether a header is byte for byte what this package writes for its algorithm and key. */
function readHeader(encoded: string): Header {
  const known = headers.get(encoded);
  if (known !== undefined) return known;
  if (encoded.length > HEADER_CHARACTERS_MAX) throw malformed("its header is far too long");
  const bytes = fromBase64url(encoded);
  if (bytes === undefined) throw malformed("its header is not strict, unpadded base64url");
  const text = utf8Text(bytes);
  if (text === undefined) throw malformed("its header is not UTF-8");
  for (const alg of ALGORITHM_NAMES) {
    const start = `{"alg":"${alg}","kid":"`.length;
    const kid = text.slice(start, start + KID_LENGTH);
    if (KID.test(kid) && text === headerText(alg, kid)) return { alg, kid };
  }
  throw malformed(faultOfHeader(text));
}

function faultOfHeader(text: string): string {
  let header: unknown;
  try {
    header = parseJson(text);
  } catch (error) {
    return `its header can't be read: ${WaybillError.from(error).message}`;
  }
  if (typeof header !== "object" || header === null || Array.isArray(header))
    return "its header is not an object";
  const { alg, kid, typ, ...others } = header as Record<string, unknown>;
  if (!ALGORITHM_NAMES.includes(alg as Algorithm)) {
    return `its header's alg is ${describe(alg)}; only ${ALGORITHM_NAMES.join(" and ")} are accepted`;
  }
  const [other] = Object.keys(others);
  if (other !== undefined)
    return `its header has the member ${describe(other)}; only alg, kid and typ are accepted`;
  if (typ !== TYP) return `its header's typ is ${describe(typ)}, not "${TYP}"`;
  if (typeof kid !== "string" || !KID.test(kid)) {
    return `its header's kid is ${describe(kid)}, not the RFC 7638 thumbprint of a key`;
  }
  return 'its header is not spelled {"alg":…,"kid":…,"typ":…}: in this order, without white space or escapes';
}

function malformed(reason: string): WaybillError {
  return new WaybillError(400, `This is not a Waybill JWS: ${reason}.`);
}

function untrusted(reason: string): WaybillError {
  return new WaybillError(401, `The signature is not accepted: ${reason}.`);
}

function tooLarge(length: number, limit: number): WaybillError {
  return new WaybillError(413, `The envelope has ${length} bytes, and the limit is ${limit}.`);
}

function describe(value: unknown): string {
  if (value === undefined) return "missing";
  if (typeof value === "object")
    return value === null ? "null" : Array.isArray(value) ? "an array" : "an object";
  return JSON.stringify(typeof value === "string" ? value.slice(0, 60) : value);
}
