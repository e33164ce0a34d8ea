import { describe, expect, it } from "vitest";
import { createHandoff, createReply as createReplyAt } from "./create.ts";
import type { ReplyInput } from "./create.ts";
import { digestOf } from "../signing/digest.ts";
import type { Envelope, EnvelopeKind, HandoffEnvelope } from "./envelope.ts";
import { WaybillError } from "../error.ts";
import { newId } from "../id.ts";
import { digestOfJws, signCompact } from "../signing/jws.ts";
import { generateKey, publicKeyFrom } from "../signing/key.ts";
import type { PrivateKey } from "../signing/key.ts";
import { LIMITS } from "../limits.ts";
import type { KeyRecord } from "../manifest/manifest.ts";
import { signEnvelope, signEnvelopes } from "./sign-envelope.ts";
import type { StatusCode } from "../status.ts";
import { checkEnvelope, parseEnvelope, verifyEnvelope } from "./verify-envelope.ts";

const NOW = Date.parse("2026-11-18T08:00:00.000Z");
const source = { now: () => NOW, newId: () => newId(NOW) };
const delegator = generateKey();
const recipient = generateKey();
const ring = new Map<string, KeyRecord>([
  record("editor-001", delegator),
  record("research-agent-001", recipient),
]);
const keyOf = (kid: string): KeyRecord | undefined => ring.get(kid);
const options = { keyOf, at: NOW };
const domain = generateKey().kid;

function record(
  agent: string,
  key: PrivateKey,
  validity: { notBefore?: number; notAfter?: number } = {},
): [string, KeyRecord] {
  const { notBefore = -Infinity, notAfter = Infinity } = validity;
  return [key.kid, { agent, key: publicKeyFrom(key.jwk), notBefore, notAfter }];
}

function handoff(overrides: Partial<HandoffEnvelope> = {}): HandoffEnvelope {
  const made = createHandoff(
    {
      from: "editor-001",
      domain,
      to: "research-agent-001",
      body: { capability: "web_research", input: { query: "waybills" } },
      timeoutMs: 60_000,
    },
    source,
  );
  return { ...made, ...overrides };
}

function createReply<Kind extends Exclude<EnvelopeKind, "handoff">>(
  about: HandoffEnvelope,
  input: ReplyInput<Kind>,
): Envelope {
  return createReplyAt(about, input, source) as Envelope;
}

const re = digestOf("the handoff's envelope");
const fromRecipient = { from: "research-agent-001", attempt: 1, re } as const;
const everyKind: Envelope[] = [
  handoff(),
  createReply(handoff(), {
    kind: "cancel",
    from: "editor-001",
    to: "hub",
    body: { reason: "no need" },
  }),
  createReply(handoff(), {
    kind: "answer",
    from: "editor-001",
    to: "research-agent-001",
    re,
    body: { question_id: "q1", answer: null },
  }),
  createReply(handoff(), { kind: "receipt", ...fromRecipient, body: { status: 101 } }),
  createReply(handoff(), { kind: "progress", ...fromRecipient, body: { fraction: 0.5 } }),
  createReply(handoff(), {
    kind: "question",
    ...fromRecipient,
    body: { questions: [{ id: "q1" }] },
  }),
  createReply(handoff(), {
    kind: "result",
    ...fromRecipient,
    body: { status: 200, output: { ok: true } },
  }),
  createReply(handoff(), {
    kind: "notice",
    from: "hub",
    re,
    body: { status: 504, reason: "out of time" },
  }),
];

function statusOf(action: () => unknown): StatusCode | "no error" {
  try {
    action();
    return "no error";
  } catch (error) {
    if (!WaybillError.is(error)) throw error;
    return error.status;
  }
}

function refusal(
  payload: unknown,
  key = delegator,
): { status: StatusCode; at: string | undefined } {
  try {
    verifyEnvelope(signCompact(JSON.stringify(payload), key), options);
  } catch (error) {
    if (WaybillError.is(error)) return { status: error.status, at: error.at };
    throw error;
  }
  throw new Error("was not refused");
}

describe("envelopes", () => {
  it.each(everyKind.map((envelope) => [envelope.kind, envelope] as const))(
    "a %s is verified to what was signed",
    (_kind, envelope) => {
      const signed = { ...envelope, from: "editor-001" } as Envelope;
      const text = signEnvelope(signed, delegator);
      const verified = verifyEnvelope(text, options);
      expect(verified.envelope).toEqual(JSON.parse(JSON.stringify(signed)));
      expect(verified).toMatchObject({ text, kid: delegator.kid, digest: digestOfJws(text) });
    },
  );

  it("signs many with one signature, each as an envelope of its own", () => {
    const many = Array.from({ length: 5 }, () => handoff());
    const texts = signEnvelopes(many, delegator).map(({ text }) => text);
    expect(texts.map((text) => verifyEnvelope(text, options).envelope.id)).toEqual(
      many.map(({ id }) => id),
    );
    expect(new Set(texts).size).toBe(5);
    const [alone] = signEnvelopes([many[0]!], delegator);
    expect(Buffer.from(alone!.text.split(".")[0]!, "base64url").toString()).toContain(
      '"alg":"Ed25519",',
    );
  });

  it("ignores unknown members, and covers them by the signature", () => {
    const text = signCompact(JSON.stringify({ ...handoff(), flavour: "new" }), delegator);
    const { envelope } = verifyEnvelope(text, options);
    expect("flavour" in envelope).toBe(false);
  });
});

describe("refuses", () => {
  it("an envelope of one kind presented as another", () => {
    for (const envelope of everyKind) {
      const signed = { ...envelope, from: "editor-001" } as Envelope;
      const [header, payload, signature] = signEnvelope(signed, delegator).split(".");
      for (const { kind } of everyKind) {
        if (kind === envelope.kind) continue;
        const json = Buffer.from(payload!, "base64url").toString();
        const other = json.replace(`"kind":"${envelope.kind}"`, `"kind":"${kind}"`);
        const text = `${header}.${Buffer.from(other).toString("base64url")}.${signature}`;
        expect(
          statusOf(() => verifyEnvelope(text, options)),
          `${envelope.kind} as ${kind}`,
        ).toBe(401);
      }
    }
    const result = everyKind.find(({ kind }) => kind === "result")!;
    for (const kind of ["handoff", "answer", "question", "notice", "manifest", "toString", ""]) {
      expect(refusal({ ...result, from: "editor-001", kind }).status, kind).toBe(400);
    }
  });

  it("an envelope addressed to somebody else", () => {
    const text = signEnvelope(handoff(), delegator);
    expect(statusOf(() => verifyEnvelope(text, { ...options, to: "research-agent-002" }))).toBe(
      403,
    );
    expect(statusOf(() => verifyEnvelope(text, { ...options, to: "research-agent-001" }))).toBe(
      "no error",
    );
    const open = signEnvelope(handoff({ to: { capability: "web_research" } }), delegator);
    expect(statusOf(() => verifyEnvelope(open, { ...options, to: "research-agent-001" }))).toBe(
      403,
    );
  });

  it("a sender that is not the owner of the key", () => {
    expect(refusal(handoff(), recipient)).toEqual({ status: 401, at: "/from" });
    expect(refusal(handoff({ from: "research-agent-001" }))).toEqual({ status: 401, at: "/from" });
  });

  it("an unknown key, and one that is not valid when the envelope arrives", () => {
    expect(refusal(handoff(), generateKey()).status).toBe(401);
    const old = generateKey();
    ring.set(...record("editor-001", old, { notBefore: NOW - 2000, notAfter: NOW - 1000 }));
    const text = signEnvelope(handoff({ issued_at: new Date(NOW - 1500).toISOString() }), old);
    expect(statusOf(() => verifyEnvelope(text, options))).toBe(401);
    expect(statusOf(() => verifyEnvelope(text, { ...options, at: NOW - 1500 }))).toBe("no error");
    expect(statusOf(() => verifyEnvelope(text, { ...options, at: NOW - 2001 }))).toBe(401);
  });

  it("times in the future, in the wrong order, too far ahead, or not in the calendar", () => {
    const at = (ms: number): string => new Date(NOW + ms).toISOString();
    expect(refusal(handoff({ issued_at: at(60_001) }))).toEqual({ status: 401, at: "/issued_at" });
    const skewed = signEnvelope(
      handoff({ issued_at: at(60_000), deadline: at(90_000) }),
      delegator,
    );
    expect(statusOf(() => verifyEnvelope(skewed, options))).toBe("no error");
    expect(refusal(handoff({ deadline: at(0) }))).toEqual({ status: 400, at: "/deadline" });
    expect(refusal(handoff({ deadline: at(LIMITS.deadlineAheadMs + 1) }))).toEqual({
      status: 401,
      at: "/deadline",
    });
    for (const wrong of [
      "2026-02-30T00:00:00Z",
      "2026-11-18 08:00:00Z",
      "2026-11-18T08:00:00+01:00",
    ]) {
      expect(refusal(handoff({ deadline: wrong })), wrong).toEqual({
        status: 400,
        at: "/deadline",
      });
      expect(refusal(handoff({ issued_at: wrong })), wrong).toEqual({
        status: 400,
        at: "/issued_at",
      });
    }
  });

  it("whatever is over a limit", () => {
    const artifact = { name: "a", media_type: "text/plain", digest: re, data: "" };
    const with257 = Array.from({ length: 257 }, () => artifact);
    const body = { ...handoff().body, artifacts: with257 };
    expect(refusal(handoff({ body }))).toEqual({ status: 413, at: "/body/artifacts" });
    expect(refusal(handoff({ hop: 17 }))).toEqual({ status: 413, at: "/hop" });
    const group = { id: newId(NOW), index: 0, size: 257, join: "all" } as const;
    expect(refusal(handoff({ group }))).toEqual({ status: 413, at: "/group/size" });
    const question = { kind: "question", ...fromRecipient, from: "editor-001" } as const;
    const questions = Array.from({ length: 257 }, (_, index) => ({ id: `q${index}` }));
    expect(refusal(createReply(handoff(), { ...question, body: { questions } })).status).toBe(413);
    const state = "x".repeat(LIMITS.pausedStateBytes + 1);
    const paused = createReply(handoff(), {
      ...question,
      body: { questions: [{ id: "q" }], state },
    });
    expect(refusal(paused)).toEqual({ status: 413, at: "/body/state" });
    const huge = handoff({ body: { capability: "c", input: "x".repeat(1024 * 1024) } });
    expect(statusOf(() => signEnvelope(huge, delegator))).toBe(413);
  });

  it.each<[string, Record<string, unknown>, string]>([
    ["another version", { waybill: 2 }, "/waybill"],
    ["an id in capitals", { id: newId().toUpperCase() }, "/id"],
    ["an id of version 4", { id: "0f8fad5b-d9cb-469f-a165-70867728950e" }, "/id"],
    ["a sender in capitals", { from: "Editor-001" }, "/from"],
    ["a sender with a homoglyph", { from: "еditor-001" }, "/from"],
    [
      "a broken trace",
      { traceparent: `00-${"0".repeat(32)}-${"1".repeat(16)}-01` },
      "/traceparent",
    ],
    [
      "a place outside its group",
      { group: { id: newId(), index: 2, size: 2, join: "all" } },
      "/group",
    ],
    [
      "a quorum above the size",
      { group: { id: newId(), index: 0, size: 2, join: "quorum", quorum: 3 } },
      "/group",
    ],
    ["no body", { body: undefined }, "/body"],
    ["no deadline", { deadline: undefined }, "/deadline"],
  ])("a handoff with %s", (_name, change, at) => {
    expect(refusal({ ...handoff(), ...change })).toEqual({ status: 400, at });
    expect(statusOf(() => signEnvelope({ ...handoff(), ...change }, delegator))).toBe(400);
  });

  it.each<[string, number, Record<string, unknown>]>([
    ["an answer without an answer", 2, { question_id: "q1" }],
    ["a receipt with a status that does not exist", 3, { status: 418 }],
    ["a question that asks nothing", 5, { questions: [] }],
    ["a question that asks twice under one id", 5, { questions: [{ id: "q" }, { id: "q" }] }],
    ["a failure that does not say what happened", 6, { status: 500 }],
    ["a result that is neither a success nor a failure", 6, { status: 102 }],
    [
      "an artifact with both data and url",
      6,
      {
        status: 200,
        artifacts: [
          { name: "a", media_type: "a/b", digest: re, data: "", url: "https://example.com" },
        ],
      },
    ],
    [
      "an artifact by another scheme",
      6,
      {
        status: 200,
        artifacts: [{ name: "a", media_type: "a/b", digest: re, url: "file:///etc/passwd" }],
      },
    ],
  ])("%s", (_name, index, body) => {
    expect(refusal({ ...everyKind[index]!, from: "editor-001", body }).status).toBe(400);
  });

  it("whatever is not an envelope", () => {
    for (const value of [null, [], "text", 7, {}, { kind: 7 }]) {
      expect(
        statusOf(() => checkEnvelope(value)),
        JSON.stringify(value),
      ).toBe(400);
    }
    expect(statusOf(() => parseEnvelope("{"))).toBe(400);
    expect(statusOf(() => parseEnvelope('{"kind":"cancel","kind":"cancel"}'))).toBe(400);
  });
});

describe("creating", () => {
  it("gives a child its parent's correlation, trace and chain, and never a later deadline", () => {
    const traceparent = `00-${"a".repeat(32)}-${"b".repeat(16)}-01`;
    const parent = handoff({ traceparent, hop: 2 });
    const body = { capability: "summarize" };
    const child = createHandoff(
      { from: "research-agent-001", domain, body, parent, timeoutMs: 3_600_000 },
      source,
    );
    expect(child).toMatchObject({
      correlation_id: parent.correlation_id,
      parent_id: parent.handoff_id,
      deadline: parent.deadline,
      traceparent,
      hop: 3,
      to: { capability: "summarize" },
    });
    const short = createHandoff(
      { from: "research-agent-001", domain, body, parent, timeoutMs: 1000 },
      source,
    );
    expect(short.deadline).toBe(new Date(NOW + 1000).toISOString());
  });

  it("lets a child have its own span in its parent's trace, and no other trace", () => {
    const [trace, other] = ["a".repeat(32), "c".repeat(32)];
    const parent = handoff({ traceparent: `00-${trace}-${"b".repeat(16)}-01` });
    const from = "research-agent-001";
    const input = { from, domain, body: { capability: "summarize" }, parent };
    const span = `00-${trace}-${"d".repeat(16)}-01`;
    expect(createHandoff({ ...input, traceparent: span }, source).traceparent).toBe(span);
    const strange = `00-${other}-${"d".repeat(16)}-01`;
    expect(statusOf(() => createHandoff({ ...input, traceparent: strange }))).toBe(400);
  });

  it("requires a deadline", () => {
    const input = { from: "editor-001", domain, body: { capability: "c" } };
    expect(statusOf(() => createHandoff(input))).toBe(400);
    expect(statusOf(() => createHandoff({ ...input, timeoutMs: Infinity }))).toBe(400);
    expect(statusOf(() => createHandoff({ ...input, deadline: new Date("never") }))).toBe(400);
  });

  it("takes the ids of a reply from its handoff, whoever the addressee is", () => {
    const one = handoff();
    const reply = createReply(one, { kind: "progress", ...fromRecipient, body: {} });
    expect(reply).toMatchObject({
      handoff_id: one.handoff_id,
      correlation_id: one.correlation_id,
      to: "editor-001",
      re,
    });
  });
});
