import {
  fromBase64url,
  hmacSha256,
  isSame,
  randomBytes,
  toBase64url,
  utf8,
  utf8Text,
} from "#platform";
import { WaybillError } from "../error.ts";
import { isId } from "../id.ts";
import { parseJson, stringifyJson } from "../json/json.ts";
import { isDigest } from "../signing/digest.ts";
import type { Digest } from "../signing/digest.ts";
import { isKid } from "../signing/key.ts";
import { formatTime, parseTime } from "../time.ts";

/** An operator's claim: exactly which request, once, and when. */
export interface OperatorClaim {
  /** The custody domain that the token was made for. */
  readonly domain: string;
  /** Host and port of the requested URL, so that the requested server can't pass the proof on elsewhere. */
  readonly host?: string | undefined;
  readonly id: string;
  /** In milliseconds since 1970. */
  readonly at: number;
  readonly method: string;
  /** With the query, as it stands in the request line. */
  readonly path: string;
  /** Of the exact bytes of the body; absent without a body. */
  readonly bodyDigest?: Digest | undefined;
}

/** The scheme of the Authorization header of operators. */
export const OPERATOR_SCHEME = "Waybill-Operator";

const MESSAGE = "waybill operator 1\n";
const TOKEN = /^([\w-]{43})\.[\w-]{43}$/;
const SECRET_BYTES = 32;

/**
 * Makes a token for the operators of a custody domain. Its holder is an operator there, and it is
 * never sent.
 */
export function newOperatorToken(domain: string): string {
  return `${domain}.${toBase64url(randomBytes(SECRET_BYTES))}`;
}

/** The custody domain that a token was made for; undefined if the text is no token. */
export function operatorTokenDomain(token: string): string | undefined {
  return TOKEN.exec(token)?.[1];
}

/** The value of the Authorization header, for the token's custody domain only. */
export function signOperatorRequest(claim: Omit<OperatorClaim, "domain">, token: string): string {
  const domain = operatorTokenDomain(token);
  if (domain === undefined) {
    throw new WaybillError(
      400,
      "This is not an operator token: it must be a custody domain, a dot and 43 characters of base64url, as the hub wrote it.",
    );
  }
  const { host, id, at, method, path, bodyDigest } = claim;
  const payload = stringifyJson({
    waybill: 1,
    kind: "operator_request",
    domain,
    host,
    id,
    at: formatTime(at),
    method,
    path,
    body_digest: bodyDigest,
  });
  const encoded = toBase64url(utf8(payload));
  return `${OPERATOR_SCHEME} ${encoded}.${toBase64url(macOf(encoded, token))}`;
}

/**
 * Reads an Authorization header that was made with exactly this token. Nothing is parsed before its
 * MAC is verified.
 */
export function readOperatorRequest(authorization: string, token: string): OperatorClaim {
  const [scheme, proof, ...more] = authorization.split(" ");
  const [encoded = "", mac = "", ...rest] = proof?.split(".") ?? [];
  if (scheme !== OPERATOR_SCHEME || more.length > 0 || rest.length > 0 || mac === "") {
    throw unauthenticated(
      `The Authorization header is not "${OPERATOR_SCHEME} <payload>.<mac>", with one space and one dot.`,
    );
  }
  const given = fromBase64url(mac);
  if (given === undefined || !isSame(given, macOf(encoded, token))) {
    throw unauthenticated(
      "Invalid operator token. The request was not signed with the token that this hub uses now.",
    );
  }
  const bytes = fromBase64url(encoded);
  const payload = bytes === undefined ? undefined : utf8Text(bytes);
  if (payload === undefined) {
    throw unauthenticated("The payload of the proof is not UTF-8 in base64url.");
  }
  try {
    return claimOf((parseJson(payload) as Record<string, unknown> | null) ?? {});
  } catch (error) {
    const { status, message } = WaybillError.from(error);
    throw status === 401
      ? error
      : unauthenticated(`The payload of the proof can't be read: ${message}`, error);
  }
}

function claimOf(value: Record<string, unknown>): OperatorClaim {
  const { waybill, kind, domain, host, id, at, method, path, body_digest: bodyDigest } = value;
  if (waybill !== 1 || kind !== "operator_request") {
    throw unauthenticated(
      'The proof is not of an operator: its payload must have "waybill": 1 and "kind": "operator_request".',
    );
  }
  const time = typeof at === "string" ? parseTime(at) : undefined;
  if (!isKid(domain) || !isId(id) || time === undefined) {
    throw unauthenticated(
      "The proof of an operator names the custody domain (domain), an id (a UUIDv7) and the time (at).",
    );
  }
  if (typeof method !== "string" || typeof path !== "string") {
    throw unauthenticated("The proof of an operator names the method and the path of its request.");
  }
  if (host !== undefined && typeof host !== "string") {
    throw unauthenticated("The host of a proof is a text: host and port of the URL that is asked.");
  }
  if (bodyDigest !== undefined && !isDigest(bodyDigest)) {
    throw unauthenticated("The body_digest of a proof is sha256: and 64 hex digits.");
  }
  return {
    domain,
    id,
    at: time,
    method,
    path,
    ...(host !== undefined && { host }),
    ...(bodyDigest && { bodyDigest }),
  };
}

function macOf(encoded: string, token: string): Uint8Array {
  return hmacSha256(utf8(token), utf8(MESSAGE + encoded));
}

function unauthenticated(message: string, cause?: unknown): WaybillError {
  return new WaybillError(401, message, { cause });
}
