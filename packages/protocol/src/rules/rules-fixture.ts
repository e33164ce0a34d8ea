/// <reference types="node" />
import {
  createHandoff,
  createReply,
  digestOf,
  newId,
  privateKeyFrom,
  publicKeyFrom,
  verifyEnvelope,
  WaybillError,
} from "../index.ts";
import type {
  Digest,
  Envelope,
  EnvelopeKind,
  HandoffEnvelope,
  KeyRecord,
  PrivateKey,
  ReplyInput,
  Source,
  StatusCode,
  VerifiedEnvelope,
  VerifyOptions,
} from "../index.ts";

export const NOW: number = Date.parse("2026-11-18T08:00:00.000Z");
export const DAY = 86_400_000;

/** The time that many milliseconds from now, in the form of the wire. */
export function time(ms: number): string {
  return new Date(NOW + ms).toISOString();
}

export const EDITOR = "editor-001";
export const RESEARCHER = "research-agent-001";
export const editor: PrivateKey = privateKeyFrom(new Uint8Array(32).fill(1));
export const researcher: PrivateKey = privateKeyFrom(new Uint8Array(32).fill(2));
export const stranger: PrivateKey = privateKeyFrom(new Uint8Array(32).fill(3));
/** The custody domain of the hub that the handoffs here are meant for, and another one. */
export const DOMAIN: string = privateKeyFrom(new Uint8Array(32).fill(4)).kid;
export const OTHER_DOMAIN: string = privateKeyFrom(new Uint8Array(32).fill(5)).kid;

const enrolled = new Map<string, KeyRecord>([
  [editor.kid, recordOf(EDITOR, editor)],
  [researcher.kid, recordOf(RESEARCHER, researcher)],
]);

function recordOf(agent: string, { jwk }: PrivateKey): KeyRecord {
  return { agent, key: publicKeyFrom(jwk), notBefore: -Infinity, notAfter: Infinity };
}

function keyOf(kid: string): KeyRecord | undefined {
  return enrolled.get(kid);
}

/** Verifies a text as a reader that has enrolled the editor's and the researcher's key. */
export function verify(text: string, options: Partial<VerifyOptions> = {}): VerifiedEnvelope {
  return verifyEnvelope(text, { keyOf, at: NOW, ...options });
}

export interface Refusal {
  status: StatusCode;
  at: string | undefined;
}

/** The error of an action; throws if it succeeds. */
export function refusal(action: () => unknown): Refusal {
  try {
    action();
  } catch (error) {
    if (!WaybillError.is(error)) throw error;
    return { status: error.status, at: error.at };
  }
  throw new Error("nothing was refused");
}

/** The status of an action's refusal, or "taken". */
export function statusOf(action: () => unknown): StatusCode | "taken" {
  try {
    action();
    return "taken";
  } catch (error) {
    if (!WaybillError.is(error)) throw error;
    return error.status;
  }
}

export function base64url(content: string | Uint8Array): string {
  return Buffer.from(content).toString("base64url");
}

export function headerOf({ kid }: Pick<PrivateKey, "kid">, alg = "Ed25519"): string {
  return `{"alg":"${alg}","kid":"${kid}","typ":"waybill+jws"}`;
}

/** Signs anything: for messages that no honest party would write. */
export function signRaw(signingInput: string, key: PrivateKey = editor): string {
  return `${signingInput}.${base64url(key.sign(Buffer.from(signingInput)))}`;
}

/** A message that is valid but for its payload. */
export function seal(payload: string | Uint8Array, key: PrivateKey = editor): string {
  return signRaw(`${base64url(headerOf(key))}.${base64url(payload)}`, key);
}

export const SOURCE: Source = { now: () => NOW, newId: () => newId(NOW) };

export function handoff(members: Partial<HandoffEnvelope> = {}): HandoffEnvelope {
  const input = {
    from: EDITOR,
    domain: DOMAIN,
    to: RESEARCHER,
    body: { capability: "web_research", input: { query: "waybills" } },
    timeoutMs: 60_000,
  };
  const made = createHandoff(input, SOURCE);
  return { ...made, ...members };
}

/** Digest of the handoff that the envelopes of a recipient name here. */
export const RE: Digest = digestOf("the handoff's envelope");

function reply(kind: Exclude<EnvelopeKind, "handoff">, members: object): Envelope {
  const input = { kind, from: EDITOR, ...members } as ReplyInput<typeof kind>;
  return createReply(handoff(), input, SOURCE) as Envelope;
}

/** A valid envelope of each kind, all from the editor, so that one key signs them. */
export const SOUND: { readonly [Kind in EnvelopeKind]: Envelope } = {
  handoff: handoff(),
  cancel: reply("cancel", { to: "hub", body: { reason: "no need" } }),
  answer: reply("answer", { re: RE, body: { question_id: "q", answer: null } }),
  receipt: reply("receipt", { attempt: 1, re: RE, body: { status: 101 } }),
  progress: reply("progress", { attempt: 1, re: RE, body: { fraction: 0.5 } }),
  question: reply("question", { attempt: 1, re: RE, body: { questions: [{ id: "q" }] } }),
  result: reply("result", { attempt: 1, re: RE, body: { status: 200, output: 1 } }),
  notice: reply("notice", { re: RE, body: { status: 504, reason: "out of time" } }),
};
export const KINDS: readonly EnvelopeKind[] = Object.keys(SOUND) as EnvelopeKind[];

/** The result for a payload that the editor has signed unchanged. */
export function read(payload: unknown, options?: Partial<VerifyOptions>): VerifiedEnvelope {
  return verify(seal(JSON.stringify(payload)), options);
}

/** The result for a valid envelope with some members changed; `undefined` removes one. */
export function readWith(
  kind: EnvelopeKind,
  members: Record<string, unknown>,
  options?: Partial<VerifyOptions>,
): VerifiedEnvelope {
  return read({ ...SOUND[kind], ...members }, options);
}
