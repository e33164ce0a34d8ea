import * as crypto from "node:crypto";
import { base64url } from "./text.ts";

export interface Party {
  readonly agent: string;
  readonly seed: Uint8Array;
  readonly publicKey: Uint8Array;
  readonly kid: string;
  readonly jwk: { readonly kty: "OKP"; readonly crv: "Ed25519"; readonly x: string };
  sign(message: Uint8Array | string): Uint8Array;
}

// The prefix of an Ed25519 key: everything before the 32 bytes (RFC 8410).
const PKCS8 = Buffer.from("302e020100300506032b657004220420", "hex");
const SPKI_HEAD_BYTES = 12;

/** Keys are derived from names, so that every run of the generator has the same ones. */
export function party(agent: string, keyName: string = agent): Party {
  const seed = sha256(`waybill vectors: ${keyName}`);
  const key = crypto.createPrivateKey({
    key: Buffer.concat([PKCS8, seed]),
    format: "der",
    type: "pkcs8",
  });
  const spki = crypto.createPublicKey(key).export({ format: "der", type: "spki" });
  const publicKey = spki.subarray(SPKI_HEAD_BYTES);
  return {
    agent,
    seed,
    publicKey,
    kid: thumbprint(publicKey),
    jwk: jwkOf(publicKey),
    sign: (message) => crypto.sign(null, Buffer.from(message as string), key),
  };
}

export function jwkOf(publicKey: Uint8Array): Party["jwk"] {
  return { kty: "OKP", crv: "Ed25519", x: base64url(publicKey) };
}

/** A key as listed in a manifest that another key signs. */
export function provenBy(
  { agent, kid, jwk, sign }: Party,
  of: { agent?: string; kid?: string; purpose?: string; prefix?: string } = {},
): Record<string, unknown> {
  const claim = [
    of.prefix ?? "waybill key 1",
    of.agent ?? agent,
    of.kid ?? kid,
    of.purpose ?? "sign",
  ];
  return { ...jwk, proof: base64url(sign(claim.join("\n"))) };
}

/** A recovery key as a manifest lists it. */
export function recoveryOf(key: Party, of: Parameters<typeof provenBy>[1] = {}): object {
  return { ...provenBy(key, { purpose: "recover", ...of }), use: "recovery" };
}

/** What a recovery key signs to agree to the keys of an update. */
export function agreedBy(
  key: Party,
  { agent_id, sequence, previous, keys }: Record<string, unknown>,
  prefix = "waybill recovery 1",
): string {
  const listed = (keys as { x: string; use?: string }[]).map(({ x, use }) => {
    const kid = thumbprint(Buffer.from(x, "base64url"));
    return `${use === "recovery" ? "recover" : "sign"} ${kid}`;
  });
  const lines = [prefix, agent_id, sequence, previous, ...listed];
  return base64url(key.sign(lines.join("\n")));
}

export function thumbprint(publicKey: Uint8Array): string {
  return base64url(sha256(`{"crv":"Ed25519","kty":"OKP","x":"${base64url(publicKey)}"}`));
}

export function sha256(data: Uint8Array | string): Buffer {
  return crypto.createHash("sha256").update(data).digest();
}

export function digest(text: string): string {
  return `sha256:${sha256(text).toString("hex")}`;
}

/** 128 bits that are random anywhere but here, where every run of the generator makes the same. */
export function salt(n: number): string {
  return base64url(sha256(`salt ${n}`).subarray(0, 16));
}

/** The leaf of a JWS, which its digest is made of: it is the same however the JWS is signed. */
export function leafOf(jws: string): Buffer {
  const [header, payload] = jws.split(".").map((part) => Buffer.from(part, "base64url"));
  const { kid } = JSON.parse(header!.toString()) as { kid: string };
  return sha256(Buffer.concat([Buffer.from([0]), Buffer.from(`${kid}\n`), payload!]));
}

/** The digest of an envelope or a manifest. */
export function digestOfJws(jws: string): string {
  return `sha256:${leafOf(jws).toString("hex")}`;
}

export const editor: Party = party("editor-001");
export const researcher: Party = party("research-agent-001");
export const hub: Party = party("hub");
export const stranger: Party = party("stranger-001");

/** 2026-11-18T07:45:00.000Z: the time of most cases. */
export const NOW: number = Date.UTC(2026, 10, 18, 7, 45);
export const MINUTE = 60_000;
export const DAY: number = 24 * 60 * MINUTE;

export function timeAt(offsetMs: number = 0): string {
  return new Date(NOW + offsetMs).toISOString();
}

/** The nth id: a UUID of version 7 of that time. */
export function id(n: number): string {
  const time = NOW.toString(16).padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${n.toString(16).padStart(12, "0")}`;
}

export interface KeyringEntry {
  readonly agent: string;
  readonly jwk: unknown;
  readonly not_before: number | null;
  readonly not_after: number | null;
}

export function enrolled(
  { agent, jwk }: Pick<Party, "agent" | "jwk">,
  validity: { not_before?: number; not_after?: number } = {},
): KeyringEntry {
  const { not_before = null, not_after = null } = validity;
  return { agent, jwk, not_before, not_after };
}

export function keyringOf(...parties: readonly Party[]): Record<string, KeyringEntry> {
  return Object.fromEntries(parties.map((each) => [each.kid, enrolled(each)]));
}
