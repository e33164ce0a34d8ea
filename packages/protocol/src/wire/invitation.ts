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
import { parseJson, stringifyJson } from "../json/json.ts";
import { isDigest } from "../signing/digest.ts";
import type { Digest } from "../signing/digest.ts";
import { digestOfJws, readCompact } from "../signing/jws.ts";
import { isKid } from "../signing/key.ts";
import { formatTime } from "../time.ts";

/** The use of an invitation: to enrol this agent with this key, by exactly this manifest. */
export interface EnrolmentClaim {
  /** The custody domain that the invitation was made for. */
  readonly domain: string;
  readonly agent: string;
  /** The key that signed the manifest. */
  readonly kid: string;
  readonly manifest: Digest;
}

/** The parts of the proof that comes with a manifest. */
export interface ReadEnrolment {
  /** Identifies the invitation. It is no secret. */
  readonly invitation: string;
  /** Checks the proof with the token of that invitation, and returns its claims. */
  verify(token: string): EnrolmentClaim;
}

const MESSAGE = "waybill invitation 1\n";
/** Identifies an invitation. */
export const INVITATION_ID: RegExp = /^[\w-]{22}$/;
const TOKEN = /^([\w-]{43})\.([\w-]{22})\.[\w-]{43}$/;
const PROOF = /^([\w-]{22})\.([\w-]+)\.([\w-]{43})$/;
const ID_BYTES = 16;
const SECRET_BYTES = 32;

/** Makes an invitation to a custody domain. Its holder may enrol one agent there, and it is never sent. */
export function newInvitation(domain: string): string {
  return `${domain}.${toBase64url(randomBytes(ID_BYTES))}.${toBase64url(randomBytes(SECRET_BYTES))}`;
}

/** What an invitation says about itself; undefined if the text is no invitation. */
export function readInvitation(
  token: string,
): { readonly domain: string; readonly id: string } | undefined {
  const [, domain, id] = TOKEN.exec(token) ?? [];
  return domain === undefined || id === undefined ? undefined : { domain, id };
}

/**
 * The proof for an agent's first manifest, for the invitation's custody domain only. It is worthless
 * with another key or manifest.
 */
export function signEnrolment(manifest: string, token: string): string {
  const read = readInvitation(token);
  if (read === undefined) {
    throw new WaybillError(
      400,
      "This is not an invitation: it must be a custody domain, an id and a secret in base64url, separated by dots, as `waybill invite` prints it.",
    );
  }
  const { kid, payload } = readCompact(manifest);
  const { agent_id: agent } = parseJson(payload) as { agent_id?: unknown };
  const claim = stringifyJson({
    waybill: 1,
    kind: "enrolment",
    domain: read.domain,
    agent,
    kid,
    manifest: digestOfJws(manifest),
  });
  const encoded = toBase64url(utf8(claim));
  return `${read.id}.${encoded}.${toBase64url(macOf(read.id, encoded, token))}`;
}

/** Reads the proof that comes with a manifest. Its payload is read only after its MAC is verified. */
export function readEnrolment(proof: string): ReadEnrolment {
  const [, invitation, encoded, mac] = PROOF.exec(proof) ?? [];
  if (invitation === undefined || encoded === undefined || mac === undefined) {
    throw unauthenticated(
      "The proof of an invitation is not <id>.<payload>.<mac>, each in base64url.",
    );
  }
  return {
    invitation,
    verify(token) {
      const given = fromBase64url(mac);
      if (given === undefined || !isSame(given, macOf(invitation, encoded, token))) {
        throw wrongInvitation();
      }
      return claimOf(encoded);
    },
  };
}

/** The same answer for an invitation that never existed, and for one whose secret is wrong. */
export function wrongInvitation(): WaybillError {
  return unauthenticated(
    "This invitation is none of this hub. Check that it was copied whole, or ask an operator of the hub for a new one (waybill invite).",
  );
}

function claimOf(encoded: string): EnrolmentClaim {
  const bytes = fromBase64url(encoded);
  const payload = bytes === undefined ? undefined : utf8Text(bytes);
  if (payload === undefined) {
    throw unauthenticated("The payload of the enrolment is not UTF-8 in base64url.");
  }
  let value: unknown;
  try {
    value = parseJson(payload);
  } catch (error) {
    const { message } = WaybillError.from(error);
    throw unauthenticated(`The payload of the enrolment can't be read: ${message}`);
  }
  const { waybill, kind, domain, agent, kid, manifest } = (value ?? {}) as Record<string, unknown>;
  if (waybill !== 1 || kind !== "enrolment") {
    throw unauthenticated(
      'The proof is not of an enrolment: its payload must have "waybill": 1 and "kind": "enrolment".',
    );
  }
  if (!isKid(domain) || typeof agent !== "string" || !isKid(kid) || !isDigest(manifest)) {
    throw unauthenticated(
      "The proof of an enrolment names the custody domain (domain), the agent, its key (kid) and the digest of its manifest.",
    );
  }
  return { domain, agent, kid, manifest };
}

/** Refuses a proof for another custody domain, agent, key or manifest. */
export function checkEnrolment(claim: EnrolmentClaim, expected: EnrolmentClaim): void {
  for (const member of ["domain", "agent", "kid", "manifest"] as const) {
    if (claim[member] === expected[member]) continue;
    throw unauthenticated(
      `The enrolment was proven for another ${member} (${claim[member]}) than that of this manifest (${expected[member]}). Make the proof for the very manifest that is published.`,
    );
  }
}

/** What a hub knows about an invitation that it has made. */
export interface InvitationFacts {
  /** Undefined if it is for any agent. */
  readonly agent?: string | undefined;
  /** In milliseconds since 1970. */
  readonly expiresAt: number;
  /** The agent that was admitted by it. */
  readonly usedBy?: string | undefined;
}

/** Refuses an invitation that does not admit this newcomer now with 403. */
export function checkInvitation(
  { agent, expiresAt, usedBy }: InvitationFacts,
  newcomer: string,
  now: number,
): void {
  const fault =
    usedBy !== undefined
      ? `was used by ${usedBy}, and each lets in one agent`
      : now >= expiresAt
        ? `ran out at ${formatTime(expiresAt)}`
        : agent !== undefined && agent !== newcomer
          ? `is for ${agent} alone`
          : undefined;
  if (fault === undefined) return;
  throw new WaybillError(
    403,
    `The invitation ${fault}. Ask an operator of the hub for a new one: waybill invite --agent ${newcomer}`,
  );
}

function macOf(id: string, encoded: string, token: string): Uint8Array {
  return hmacSha256(utf8(token), utf8(`${MESSAGE}${id}.${encoded}`));
}

function unauthenticated(message: string): WaybillError {
  return new WaybillError(401, message);
}
