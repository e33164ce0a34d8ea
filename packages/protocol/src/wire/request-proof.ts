import { endedKeyAdvice, newKeyAdvice } from "../manifest/key-advice.ts";
import { WaybillError } from "../error.ts";
import { isId } from "../id.ts";
import { parseJson, stringifyJson } from "../json/json.ts";
import { isAgentId } from "../manifest/agent-id.ts";
import { isKeyValidAt } from "../manifest/key-record.ts";
import type { KeyRecord } from "../manifest/key-record.ts";
import { isDigest } from "../signing/digest.ts";
import type { Digest } from "../signing/digest.ts";
import { readCompact, signCompact } from "../signing/jws.ts";
import { isKid } from "../signing/key.ts";
import type { PrivateKey } from "../signing/key.ts";
import { formatTime, parseTime } from "../time.ts";

/** What is signed with an HTTP request: who asks whom for exactly what, once, and when. */
export interface RequestClaim {
  readonly from: string;
  /** The hub, or the agent that the hub asks. */
  readonly to: string;
  /** The custody domain of the hub, because many hubs may have the same id. */
  readonly domain: string;
  readonly id: string;
  /** In milliseconds since 1970. */
  readonly at: number;
  readonly method: string;
  /** With the query, as it stands in the request line. */
  readonly path: string;
  /** Of the exact bytes of the body; absent without a body. */
  readonly bodyDigest?: Digest | undefined;
}

/** The scheme of the Authorization header of agents. */
const REQUEST_SCHEME = "Waybill";

/** The value of the Authorization header. */
export function signRequest(claim: RequestClaim, key: PrivateKey): string {
  const { from, to, domain, id, at, method, path, bodyDigest } = claim;
  const payload = stringifyJson({
    waybill: 1,
    kind: "request",
    from,
    to,
    domain,
    id,
    at: formatTime(at),
    method,
    path,
    body_digest: bodyDigest,
  });
  return `${REQUEST_SCHEME} ${signCompact(payload, key)}`;
}

/** The claims of an agent's Authorization header, before its signature is verified. */
export interface ReadRequest {
  readonly claim: RequestClaim;
  /** The JWS in the header, not verified yet. */
  readonly proof: string;
  readonly kid: string;
}

/** Reads an Authorization header. Nothing in it is trusted before its signature is verified. */
export function readRequest(authorization: string): ReadRequest {
  const [scheme, proof, ...more] = authorization.split(" ");
  if (scheme !== REQUEST_SCHEME || proof === undefined || more.length > 0) {
    throw unauthenticated(
      `The Authorization header is not "${REQUEST_SCHEME} <compact JWS>", with one space.`,
    );
  }
  let read: { kid: string; payload: string };
  let value: Record<string, unknown> | null;
  try {
    read = readCompact(proof);
    value = parseJson(read.payload) as Record<string, unknown> | null;
  } catch (cause) {
    throw unauthenticated(
      `The proof of the request can't be read: ${WaybillError.from(cause).message}`,
      cause,
    );
  }
  return { claim: claimOf(value ?? {}), proof, kid: read.kid };
}

function claimOf(value: Record<string, unknown>): RequestClaim {
  const { waybill, kind, from, to, domain, id, at, method, path } = value;
  const { body_digest: bodyDigest } = value;
  if (waybill !== 1 || kind !== "request") {
    throw unauthenticated(
      'The proof is not of a request: its payload must have "waybill": 1 and "kind": "request".',
    );
  }
  const time = typeof at === "string" ? parseTime(at) : undefined;
  if (!isAgentId(from) || !isAgentId(to) || !isId(id) || time === undefined) {
    throw unauthenticated(
      "The proof of a request names the agent (from), the hub (to), an id (a UUIDv7) and the time (at).",
    );
  }
  if (!isKid(domain)) {
    throw unauthenticated(
      "The proof of a request names the custody domain of the hub (domain), as /.well-known/waybill gives it.",
    );
  }
  if (typeof method !== "string" || typeof path !== "string") {
    throw unauthenticated("The proof of a request names its method and its path.");
  }
  if (bodyDigest !== undefined && !isDigest(bodyDigest)) {
    throw unauthenticated("The body_digest of a proof is sha256: and 64 hex digits.");
  }
  return { from, to, domain, id, at: time, method, path, ...(bodyDigest && { bodyDigest }) };
}

/** The key that signed a proof, if it is a current one of the claimed sender. */
export function checkRequestKey(
  { from }: RequestClaim,
  record: KeyRecord | undefined,
  now: number,
): KeyRecord {
  if (record === undefined || record.agent !== from) {
    throw unauthenticated(
      `${from} is not known here by the key that signed the request. ${newKeyAdvice(from, "<thumbprint>")}`,
    );
  }
  if (isKeyValidAt(record, now)) return record;
  throw unauthenticated(
    `The key that signed the request is not a current key of ${from}. ${endedKeyAdvice(from)}`,
  );
}

/** What the reader of a proof knows about its request. */
export interface RequestFacts {
  readonly to: string;
  readonly domain: string;
  readonly method: string;
  readonly path: string;
  readonly now: number;
  readonly clockSkewMs: number;
}

/** Checks that a claim is for exactly this request, and current. Its body is checked when it has arrived. */
export function checkRequest(claim: RequestClaim, facts: RequestFacts): void {
  const { to } = facts;
  if (claim.to !== to) {
    throw unauthenticated(`The request is signed for ${claim.to}, and this is ${to}.`);
  }
  checkRequestLine(claim, facts);
}

/** Checks that a claim is for this domain, this method and path, and current. */
export function checkRequestLine(
  claim: Pick<RequestClaim, "domain" | "method" | "path" | "at">,
  { domain, method, path, now, clockSkewMs }: Omit<RequestFacts, "to">,
): void {
  if (claim.domain !== domain) {
    throw unauthenticated(
      `The request is signed for the custody domain ${claim.domain}, and this is ${domain}.`,
    );
  }
  if (claim.method !== method || claim.path !== path) {
    throw unauthenticated(
      `The proof is for ${claim.method} ${claim.path}, and the request is ${method} ${path}; sign the path with its query, as it is sent.`,
    );
  }
  if (Math.abs(now - claim.at) > clockSkewMs) {
    throw unauthenticated(
      `The request was signed at ${formatTime(claim.at)}, and it is ${formatTime(now)} here; sign each request anew, and check the clock.`,
    );
  }
}

/** Checks that the body is the one that was signed for; `digest` is undefined without a body. */
export function checkRequestBody(
  claim: Pick<RequestClaim, "bodyDigest">,
  digest: Digest | undefined,
): void {
  if (claim.bodyDigest === digest) return;
  throw unauthenticated(
    claim.bodyDigest === undefined
      ? "The request has a body, and its proof does not sign for it; put body_digest in."
      : "The body is not the one that was signed: its digest is another than body_digest.",
  );
}

function unauthenticated(message: string, cause?: unknown): WaybillError {
  return new WaybillError(401, message, { cause });
}
