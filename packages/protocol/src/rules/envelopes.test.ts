import { describe, expect, test } from "vitest";
import { checkHistory } from "../audit.ts";
import { eventOf, step } from "../hub.ts";
import { createHandoff, keyring, newSalt, signManifest, verifyManifest } from "../index.ts";
import type { LifecycleEvent } from "../hub.ts";
import type { EnvelopeKind, HandoffEnvelope } from "../index.ts";
import { HistoryWriter } from "../history/history-fixture.ts";
import {
  base64url,
  DAY,
  DOMAIN,
  EDITOR,
  editor,
  handoff,
  KINDS,
  NOW,
  OTHER_DOMAIN,
  RE,
  read,
  readWith,
  refusal,
  researcher,
  RESEARCHER,
  seal,
  SOUND,
  SOURCE,
  statusOf,
  time,
  verify,
} from "./rules-fixture.ts";

test("WB-26 any version but the number 1 is refused with 400", () => {
  for (const waybill of [2, 0, "1", true, null, [1], undefined]) {
    for (const kind of KINDS) {
      expect(
        refusal(() => readWith(kind, { waybill })),
        kind,
      ).toEqual({ status: 400, at: "/waybill" });
    }
  }
});

test("WB-27 there are eight kinds, and any other, including a manifest, is refused with 400", () => {
  expect(KINDS).toHaveLength(8);
  for (const kind of KINDS) expect(read(SOUND[kind]).envelope.kind).toBe(kind);
  const others = ["manifest", "Handoff", "handoff ", "taken", "toString", "__proto__", "", 1, null];
  for (const other of [...others, ["handoff"], undefined]) {
    for (const kind of KINDS) {
      expect(refusal(() => readWith(kind, { kind: other })).status, String(other)).toBe(400);
    }
  }
  const manifest = signManifest({ agent_id: EDITOR, capabilities: [] }, editor);
  expect(refusal(() => verify(manifest))).toEqual({ status: 400, at: "/kind" });
});

test("WB-27 the kind is signed: no envelope passes for another kind", () => {
  for (const kind of KINDS) {
    const payload = JSON.stringify(SOUND[kind]);
    const [header, , signature] = seal(payload).split(".") as [string, string, string];
    for (const other of KINDS.filter((each) => each !== kind)) {
      const relabelled = payload.replace(`"kind":"${kind}"`, `"kind":"${other}"`);
      const text = `${header}.${base64url(relabelled)}.${signature}`;
      expect(
        statusOf(() => verify(text)),
        `${kind} as ${other}`,
      ).toBe(401);
    }
  }
});

const REQUIRED: Record<EnvelopeKind, string[]> = {
  handoff: ["deadline", "body/capability"],
  cancel: [],
  answer: ["re", "body/question_id", "body/answer"],
  receipt: ["re", "body/status"],
  progress: ["attempt", "re"],
  question: ["attempt", "re", "body/questions"],
  result: ["attempt", "re", "body/status"],
  notice: ["body/status", "body/reason"],
};
const REQUIRED_OF_ALL = [
  "id",
  "from",
  "to",
  "handoff_id",
  "correlation_id",
  "issued_at",
  "salt",
  "body",
];

/** A valid envelope in which one member, given as a JSON Pointer, has another value. */
function changed(kind: EnvelopeKind, pointer: string, value: unknown): Record<string, unknown> {
  const [first, second] = pointer.split("/") as [string, string?];
  if (second === undefined) return { ...SOUND[kind], [first]: value };
  return { ...SOUND[kind], body: { ...SOUND[kind].body, [second]: value } };
}

test.each(KINDS)(
  "WB-28 a %s without a required member is refused with 400 and the place",
  (kind) => {
    for (const pointer of [...REQUIRED_OF_ALL, ...REQUIRED[kind]]) {
      const { status, at } = refusal(() => read(changed(kind, pointer, undefined)));
      expect(status, pointer).toBe(400);
      // In an answer null is a value, and absence is a fault, which is reported for the body.
      if (pointer !== "body/answer") expect(at).toBe(`/${pointer}`);
      if (pointer === "body/answer") continue;
      const wrong = refusal(() => read(changed(kind, pointer, [true])));
      expect(wrong.status, pointer).toBe(400);
      expect(wrong.at?.startsWith(`/${pointer}`), `${pointer}: ${wrong.at}`).toBe(true);
    }
  },
);

test("WB-28 a value that the schema does not allow is refused with 400 and the place", () => {
  const cases: [EnvelopeKind, string, unknown][] = [
    ["receipt", "body/status", 418],
    ["receipt", "attempt", 0],
    ["receipt", "body/retry_after_ms", -1],
    ["progress", "attempt", 1.5],
    ["progress", "body/fraction", 1.1],
    ["handoff", "body/capability", ""],
    ["handoff", "body/messages", [{ role: "wizard", content: [] }]],
    ["handoff", "hop", -1],
    ["handoff", "traceparent", `00-${"0".repeat(32)}-${"1".repeat(16)}-01`],
    ["handoff", "body/contract", { max_attempts: 0 }],
    ["question", "body/questions", []],
    ["result", "body/effects", "some"],
    ["notice", "body/reason", 7],
  ];
  for (const [kind, pointer, value] of cases) {
    const { status, at } = refusal(() => read(changed(kind, pointer, value)));
    expect(status, pointer).toBe(400);
    expect(at?.startsWith(`/${pointer}`), `${pointer}: ${at}`).toBe(true);
  }
});

test("WB-29 members that a reader does not know are ignored, wherever they are", () => {
  const unknown = { flavour: { new: [1] } };
  for (const kind of KINDS) {
    const { envelope } = readWith(kind, { ...unknown, body: { ...SOUND[kind].body, ...unknown } });
    expect(envelope, kind).toEqual(read(SOUND[kind]).envelope);
  }
  const artifact = { name: "a", media_type: "a/b", digest: RE, data: "", ...unknown };
  const deep = {
    to: { capability: "c", ...unknown },
    group: { id: handoff().id, index: 0, size: 1, join: "all", ...unknown },
    body: {
      capability: "c",
      brief: { instruction: "do", ...unknown },
      messages: [{ role: "user", content: [{ type: "text", ...unknown }], ...unknown }],
      artifacts: [artifact],
      contract: { max_attempts: 2, ...unknown },
    },
  };
  expect(statusOf(() => readWith("handoff", deep))).toBe("taken");
  const question = { body: { questions: [{ id: "q", ...unknown }] } };
  expect(statusOf(() => readWith("question", question))).toBe("taken");
  const failure = { body: { status: 500, error: { message: "no", ...unknown } } };
  expect(statusOf(() => readWith("result", failure))).toBe("taken");
});

test("WB-105 an envelope without a salt, or with one of another form, is refused with 400", () => {
  const long = "A".repeat(21);
  const others = [
    undefined,
    null,
    1,
    "",
    long,
    `${long}B`,
    `${long}AA`,
    `${long}A==`,
    "0".repeat(32),
  ];
  for (const kind of KINDS) {
    for (const salt of others) {
      const found = refusal(() => readWith(kind, { salt }));
      expect(found, `${kind} ${String(salt)}`).toEqual({ status: 400, at: "/salt" });
    }
    expect(statusOf(() => readWith(kind, { salt: `${long}w` }))).toBe("taken");
  }
});

test("WB-105 every envelope is made with 128 random bits of its own, which its digest depends on", () => {
  const made = [...Array.from({ length: 20 }, () => handoff()), ...Object.values(SOUND)];
  const salts = made.map(({ salt }) => Buffer.from(salt, "base64url"));
  for (const salt of salts) expect(salt).toHaveLength(16);
  expect(new Set(salts.map(String)).size).toBe(made.length);
  const [first, second] = [newSalt(), newSalt()].map((salt) => readWith("cancel", { salt }).digest);
  expect(first).not.toBe(second);
});

/** A valid value for the members that the sound envelopes lack. */
const MORE: Record<string, unknown> = {
  session: { id: "trip", wait_seconds: 1 },
  traceparent: `00-${"1".repeat(32)}-${"1".repeat(16)}-01`,
};

test("WB-104 a critical member that the reader knows is fine, wherever it is", () => {
  const body = { ...SOUND.handoff.body, contract: { max_attempts: 2 } };
  const critical = [
    "/id",
    "/session",
    "/session/wait_seconds",
    "/traceparent",
    "/body",
    "/body/input",
    "/body/contract/max_attempts",
    "/critical",
  ];
  const found = readWith("handoff", { ...MORE, body, critical });
  expect(found.envelope.critical).toEqual(critical);
  const to = { capability: "web_research", version: "1" };
  expect(statusOf(() => readWith("handoff", { to, critical: ["/to/version"] }))).toBe("taken");
  for (const kind of KINDS) {
    expect(statusOf(() => readWith(kind, { critical: ["/body", "/from"] }))).toBe("taken");
  }
});

test("WB-104 a critical member that the reader does not know is refused with 400, in every kind", () => {
  for (const kind of KINDS) {
    const unknown = { flavour: 1, body: { ...SOUND[kind].body, flavour: 1 } };
    expect(statusOf(() => readWith(kind, unknown))).toBe("taken");
    for (const pointer of ["/flavour", "/body/flavour"]) {
      const found = refusal(() => readWith(kind, { ...unknown, critical: ["/id", pointer] }));
      expect(found, `${kind} ${pointer}`).toEqual({ status: 400, at: "/critical/1" });
    }
  }
});

test("WB-104 what is passed on unread, what is in a list, and what is no pointer is not known", () => {
  const body = {
    ...SOUND.handoff.body,
    metadata: { a: 1 },
    artifacts: [{ name: "a", media_type: "a/b", digest: RE, data: "" }],
  };
  const pointers = ["/body/input/query", "/body/metadata/a", "/body/artifacts/0", "id", "", "/"];
  for (const pointer of [
    ...pointers,
    "/id/",
    "#/id",
    "/body~1input",
    "/__proto__",
    "/constructor",
  ]) {
    const found = refusal(() => readWith("handoff", { body, critical: [pointer] }));
    expect(found, pointer).toEqual({ status: 400, at: "/critical/0" });
  }
});

test("WB-104 a critical member that is missing is refused with 400", () => {
  for (const pointer of ["/session", "/session/id", "/deadline"]) {
    const kind = pointer === "/deadline" ? "cancel" : "handoff";
    const found = refusal(() => readWith(kind, { critical: [pointer] }));
    expect(found, pointer).toEqual({ status: 400, at: "/critical/0" });
  }
});

test("WB-104 a list of critical members that is empty, too long or not of texts is refused with 400", () => {
  const many = Array.from({ length: 33 }, () => "/id");
  for (const critical of [[], many, "/id", [1], null, [`/${"i".repeat(256)}`]]) {
    expect(statusOf(() => readWith("handoff", { critical }))).toBe(400);
  }
  expect(statusOf(() => readWith("handoff", { critical: many.slice(1) }))).toBe("taken");
});

test("WB-30 a from that is not the key's agent is refused with 401", () => {
  for (const kind of KINDS) {
    expect(refusal(() => readWith(kind, { from: RESEARCHER }))).toEqual({
      status: 401,
      at: "/from",
    });
    const byAnother = seal(JSON.stringify(SOUND[kind]), researcher);
    expect(refusal(() => verify(byAnother))).toEqual({ status: 401, at: "/from" });
  }
});

test("WB-31 an envelope with another addressee than the reader is refused with 403", () => {
  for (const kind of KINDS) {
    const members = { to: RESEARCHER };
    expect(
      statusOf(() => readWith(kind, members, { to: RESEARCHER })),
      kind,
    ).toBe("taken");
    for (const to of ["research-agent-002", EDITOR, ""]) {
      expect(
        refusal(() => readWith(kind, members, { to })),
        kind,
      ).toEqual({ status: 403, at: "/to" });
    }
  }
});

test("WB-31 only a handoff is addressed to a capability, and only a hub takes it", () => {
  const open = { to: { capability: "web_research" } };
  // A hub checks no addressee: it takes custody of envelopes for others.
  expect(statusOf(() => readWith("handoff", open))).toBe("taken");
  expect(statusOf(() => readWith("handoff", open, { to: RESEARCHER }))).toBe(403);
  for (const kind of KINDS.filter((each) => each !== "handoff")) {
    expect(
      statusOf(() => readWith(kind, open)),
      kind,
    ).toBe(400);
  }
});

test("WB-85 a handoff for another custody domain than the reader's is refused with 403", () => {
  const of = (domain: string) => statusOf(() => read(SOUND.handoff, { domain }));
  expect(of(DOMAIN)).toBe("taken");
  expect(refusal(() => read(SOUND.handoff, { domain: OTHER_DOMAIN }))).toEqual({
    status: 403,
    at: "/domain",
  });
  // The signature covers it: nobody in between can send a handoff to another domain.
  const [header, , signature] = verify(seal(JSON.stringify(SOUND.handoff))).text.split(".");
  const moved = base64url(JSON.stringify({ ...SOUND.handoff, domain: OTHER_DOMAIN }));
  expect(statusOf(() => verify(`${header}.${moved}.${signature}`))).toBe(401);
  // Envelopes about a handoff go where the handoff went.
  for (const kind of KINDS.filter((each) => each !== "handoff")) {
    expect(
      statusOf(() => read(SOUND[kind], { domain: OTHER_DOMAIN })),
      kind,
    ).toBe("taken");
  }
});

test("WB-85 a handoff without a domain, or with one that is no thumbprint, is refused", () => {
  for (const domain of [undefined, null, "", "hub", DOMAIN.slice(1), `${DOMAIN.slice(0, -1)}B`]) {
    expect(
      refusal(() => readWith("handoff", { domain })),
      String(domain),
    ).toEqual({ status: 400, at: "/domain" });
  }
});

describe("a key's period", () => {
  const validity = { not_before: time(-2000), not_after: time(2000) };

  /** The keys as a reader has them from the agent's manifest. */
  function ring(key: Record<string, string>) {
    const keys = [{ ...editor.jwk, ...key }];
    const text = signManifest({ agent_id: EDITOR, capabilities: [], keys }, editor);
    return keyring([verifyManifest(text, { at: NOW })]);
  }

  test("WB-32 begins at its not_before and ends before its not_after; otherwise 401", () => {
    const { keyOf } = ring(validity);
    const text = seal(JSON.stringify(handoff({ issued_at: time(-3000) })));
    for (const [at, verdict] of [
      [-2001, 401],
      [-2000, "taken"],
      [1999, "taken"],
      [2000, 401],
      [DAY, 401],
    ] as const) {
      expect(
        statusOf(() => verify(text, { keyOf, at: NOW + at })),
        `${at} ms`,
      ).toBe(verdict);
    }
  });

  test("WB-32 of a retired key excludes new messages and includes earlier ones", () => {
    const { keyOf } = ring({ ...validity, retired_at: time(500) });
    const text = seal(JSON.stringify(handoff()));
    // The second reader reads its ledger a year later, by the time of the entry.
    expect(statusOf(() => verify(text, { keyOf, at: NOW + 499 }))).toBe("taken");
    expect(statusOf(() => verify(text, { keyOf, at: NOW + 500 }))).toBe(401);
    expect(statusOf(() => verify(text, { keyOf, at: NOW + 365 * DAY }))).toBe(401);
  });
});

test("WB-33 an envelope from more than 60 seconds in the future is refused with 401", () => {
  for (const kind of KINDS) {
    const deadline = { deadline: time(DAY) };
    const issuedAt = (ms: number) => () => readWith(kind, { ...deadline, issued_at: time(ms) });
    expect(statusOf(issuedAt(60_000)), kind).toBe("taken");
    expect(refusal(issuedAt(60_001)), kind).toEqual({ status: 401, at: "/issued_at" });
    expect(refusal(issuedAt(DAY / 2)), kind).toEqual({ status: 401, at: "/issued_at" });
  }
});

test("WB-34 a deadline is later than the time of issue, else 400, and at most 366 days later, else 401", () => {
  const until = (ms: number) => () =>
    readWith("handoff", { issued_at: time(-1000), deadline: time(ms - 1000) });
  for (const ms of [0, -1, -DAY])
    expect(refusal(until(ms))).toEqual({ status: 400, at: "/deadline" });
  for (const ms of [1, 366 * DAY]) expect(statusOf(until(ms))).toBe("taken");
  for (const ms of [366 * DAY + 1, 4000 * DAY]) {
    expect(refusal(until(ms))).toEqual({ status: 401, at: "/deadline" });
  }
});

test("WB-35 an envelope of an attempt's holder has its number and the handoff's digest", () => {
  for (const kind of ["progress", "question", "result"] as const) {
    for (const member of ["attempt", "re"]) {
      expect(
        statusOf(() => readWith(kind, { [member]: undefined })),
        kind,
      ).toBe(400);
    }
    const event = eventOf(SOUND[kind], RE, NOW);
    expect(event, kind).toMatchObject({ type: kind, by: EDITOR, attempt: 1, re: RE });
  }
  expect(statusOf(() => readWith("receipt", { re: undefined }))).toBe(400);
  for (const [status, type] of [
    [101, "accept"],
    [300, "release"],
    [301, "release"],
    [422, "reject"],
  ] as const) {
    const of = (members: Record<string, unknown>) =>
      eventOf(readWith("receipt", { ...members, body: { status } }).envelope, RE, NOW);
    expect(of({})).toMatchObject({ type, attempt: 1, re: RE });
    // Without the number it is not from a holder, and affects no attempt.
    expect(of({ attempt: undefined })).toBeUndefined();
  }
});

test("WB-36 an envelope over one of the limits is refused with 413", () => {
  const artifact = { name: "a", media_type: "a/b", digest: RE, data: "" };
  const id = handoff().id;
  const cases: [string, number, (count: number) => unknown][] = [
    [
      "/body/artifacts",
      256,
      (count) => changed("handoff", "body/artifacts", list(count, artifact)),
    ],
    ["/body/artifacts", 256, (count) => changed("result", "body/artifacts", list(count, artifact))],
    ["/hop", 16, (hop) => changed("handoff", "hop", hop)],
    [
      "/group/size",
      256,
      (size) => changed("handoff", "group", { id, index: 0, size, join: "all" }),
    ],
    [
      "/body/questions",
      256,
      (count) =>
        changed(
          "question",
          "body/questions",
          list(count, {}).map((_, index) => ({ id: `q${index}` })),
        ),
    ],
    ["/body/state", 262_144, (count) => changed("question", "body/state", "x".repeat(count))],
  ];
  for (const [at, limit, make] of cases) {
    expect(
      statusOf(() => read(make(limit))),
      at,
    ).toBe("taken");
    expect(refusal(() => read(make(limit + 1)))).toEqual({ status: 413, at });
  }
  const state = (count: number) => () => read(changed("question", "body/state", "é".repeat(count)));
  expect(statusOf(state(131_072))).toBe("taken");
  expect(refusal(state(131_073))).toEqual({ status: 413, at: "/body/state" });
});

function list<Item>(length: number, item: Item): Item[] {
  return Array.from({ length }, () => item);
}

test("WB-37 an artifact has exactly one of data, url and size, a whole number of bytes; otherwise 400", () => {
  const withArtifact = (members: Record<string, unknown>) => () => {
    const artifacts = [{ name: "a", media_type: "a/b", digest: RE, ...members }];
    read(changed("handoff", "body/artifacts", artifacts));
    read(changed("result", "body/artifacts", artifacts));
  };
  for (const good of [
    { data: "" },
    { data: "-_8" },
    { url: "https://a.b/c" },
    { url: "http://a" },
    { size: 0 },
    { size: Number.MAX_SAFE_INTEGER },
  ]) {
    expect(statusOf(withArtifact(good)), JSON.stringify(good)).toBe("taken");
  }
  const both = { data: "", url: "https://a.b/c" };
  const sizes = [-1, 0.5, 2 ** 53, "1", null, true].map((size) => ({ size }));
  const more = [
    ...sizes,
    { ...both, size: 1 },
    { data: "", size: 0 },
    { url: "http://a", size: 0 },
  ];
  const schemes = [
    "file:///etc/passwd",
    "ftp://a/b",
    "javascript:alert(1)",
    "data:,x",
    "//a/b",
    "a",
  ];
  const data = ["+/8", "-_8=", "-_9", "a b", "a", "AB", 7].map((wrong) => ({ data: wrong }));
  for (const wrong of [{}, both, ...more, ...data, ...schemes.map((url) => ({ url }))]) {
    expect(statusOf(withArtifact(wrong)), JSON.stringify(wrong)).toBe(400);
  }
});

/** The result of reading one part of a message, in a handoff and in a result. */
const withPart = (part: Record<string, unknown>) => () => {
  const messages = [{ role: "assistant", content: [{ type: "text", text: "Look." }, part] }];
  return (["handoff", "result"] as const).map(
    (kind) => read(changed(kind, "body/messages", messages)).envelope.body,
  );
};
const AT_PART = "/body/messages/0/content/1";

test("WB-248 an image, a recording and a file have a media_type and either data or url; otherwise 400", () => {
  for (const type of ["image", "audio", "file"]) {
    const sound = { type, media_type: "image/png" };
    const good = [
      { ...sound, data: "" },
      { ...sound, data: "-_8", name: "a.png", detail: "high" },
      { ...sound, media_type: "*/*", url: "http://a/b" },
      { ...sound, media_type: "m".repeat(256), name: "n".repeat(256), url: "https://a" },
    ];
    for (const part of good) expect(statusOf(withPart(part)), JSON.stringify(part)).toBe("taken");

    const wrong: [string, Record<string, unknown>][] = [
      ["", sound],
      ["", { ...sound, data: "", url: "https://a.b/c" }],
      ["/media_type", { type, data: "" }],
      ...["", 7, null, "m".repeat(257)].map(
        (media_type) =>
          ["/media_type", { type, media_type, data: "" }] as [string, Record<string, unknown>],
      ),
      ...["", 7, null, "n".repeat(257)].map(
        (name) => ["/name", { ...sound, name, data: "" }] as [string, Record<string, unknown>],
      ),
      ...["+/8", "-_8=", "-_9", "a b", "a", 7, null, [1]].map(
        (data) => ["/data", { ...sound, data }] as [string, Record<string, unknown>],
      ),
      ...["file:///etc/passwd", "data:image/png;base64,AAAA", "ftp://a/b", "a", 7, null].map(
        (url) => ["/url", { ...sound, url }] as [string, Record<string, unknown>],
      ),
    ];
    for (const [place, part] of wrong) {
      expect(refusal(withPart(part)), JSON.stringify(part)).toEqual({
        status: 400,
        at: AT_PART + place,
      });
    }
  }
});

test("WB-249 a part of another type is accepted unchanged, whatever its members", () => {
  const others = [
    { type: "video", media_type: 7, data: "+/8=", url: "file:///nowhere" },
    { type: "Image", nested: { any: [null, true] } },
    { type: "tool_call", id: "c1", name: "search", arguments: {} },
    { type: "text", text: "x", media_type: "", data: 1 },
  ];
  for (const part of others) {
    for (const body of withPart(part)()) {
      expect(body, part.type).toMatchObject({ messages: [{ content: [{}, part] }] });
    }
  }
});

test("WB-38 an index is less than the size, and quorum goes with join quorum, at most size; otherwise 400", () => {
  const id = handoff().id;
  const withGroup = (group: object) => () => readWith("handoff", { group: { id, ...group } });
  const good = [
    { index: 0, size: 1, join: "all" },
    { index: 1, size: 2, join: "any" },
    { index: 1, size: 2, join: "quorum", quorum: 2 },
  ];
  for (const group of good) expect(statusOf(withGroup(group))).toBe("taken");
  const wrong = [
    { index: 1, size: 1, join: "all" },
    { index: -1, size: 1, join: "all" },
    { index: 0.5, size: 1, join: "all" },
    { index: 0, size: 0, join: "all" },
    { index: 0, size: 2, join: "quorum" },
    { index: 0, size: 2, join: "quorum", quorum: 3 },
    { index: 0, size: 2, join: "quorum", quorum: 0 },
    { index: 0, size: 2, join: "all", quorum: 1 },
    { index: 0, size: 2, join: "any", quorum: 2 },
    { index: 0, size: 2, join: "most" },
  ];
  for (const group of wrong) expect(statusOf(withGroup(group)), JSON.stringify(group)).toBe(400);
});

test("WB-39 a result has a status of 200 or at least 400, and a failure says what happened", () => {
  const withBody = (body: object) => () => readWith("result", { body });
  const error = { message: "it broke" };
  expect(statusOf(withBody({ status: 200 }))).toBe("taken");
  for (const status of [400, 424, 500, 520]) {
    expect(statusOf(withBody({ status, error })), `${status}`).toBe("taken");
    for (const silent of [{}, { error: {} }, { error: { retryable: true } }]) {
      expect(statusOf(withBody({ status, ...silent })), `${status}`).toBe(400);
    }
  }
  for (const status of [100, 101, 102, 103, 201, 300, 301, 418, 599]) {
    expect(statusOf(withBody({ status, error })), `${status}`).toBe(400);
  }
});

test("WB-39 a question asks each of its questions under an id of its own; otherwise 400", () => {
  const asking =
    (...ids: string[]) =>
    () =>
      readWith("question", { body: { questions: ids.map((id) => ({ id })) } });
  expect(statusOf(asking("q", "p"))).toBe("taken");
  expect(statusOf(asking("q", "q"))).toBe(400);
  expect(statusOf(asking("q", "p", "q"))).toBe(400);
});

describe("a repeated id", () => {
  const submit = (digest: string, at = NOW) =>
    eventOf(handoff(), digest as typeof RE, at) as LifecycleEvent;

  test("WB-40 with the same digest changes nothing and is 201, with another one it is 409", () => {
    const { state } = step(undefined, submit("sha256:1"));
    const again = step(state, submit("sha256:1", NOW + 5));
    expect(again).toEqual({ state, effects: [{ type: "reply", status: 201 }] });
    expect(again.state).toBe(state);
    const other = step(state, submit("sha256:2", NOW + 5));
    expect(other).toEqual({ state, effects: [{ type: "reply", status: 409 }] });
    expect(other.state).toBe(state);
  });

  test("WB-40 that was accepted a second time makes a history invalid", () => {
    const writer = new HistoryWriter();
    writer.submit("h");
    writer.hub("h", { type: "offer", recipient: "r" });
    writer.progress("h");
    const last = writer.entries.at(-1)!;
    const rules = (status: 100 | 201) =>
      checkHistory([...writer.entries, { ...last, status } as typeof last]).violations.map(
        ({ rule }) => rule,
      );
    expect(rules(201)).toEqual([]);
    expect(rules(100)).toEqual(["repeat_not_noticed"]);
  });
});

describe("a child", () => {
  const traceparent = `00-${"a".repeat(32)}-${"b".repeat(16)}-01`;
  const parent: HandoffEnvelope = handoff({ hop: 2, traceparent });
  const body = { capability: "summarize" };
  const input = { from: RESEARCHER, domain: DOMAIN, body, parent };

  test("WB-41 has its parent's correlation and trace, names it, and is one hop further", () => {
    const child = createHandoff({ ...input, correlationId: handoff().id });
    expect(child).toMatchObject({
      correlation_id: parent.correlation_id,
      parent_id: parent.handoff_id,
      traceparent,
      hop: 3,
    });
    expect(createHandoff({ ...input, parent: handoff() }).hop).toBe(1);
  });

  test("WB-41 never has a later deadline than its parent", () => {
    for (const [timeoutMs, deadline] of [
      [3_600_000, parent.deadline],
      [undefined, parent.deadline],
      [1000, time(1000)],
    ] as const) {
      expect(createHandoff({ ...input, timeoutMs }, SOURCE).deadline).toBe(deadline);
    }
    const late = new Date(NOW + DAY);
    expect(createHandoff({ ...input, deadline: late }, SOURCE).deadline).toBe(parent.deadline);
  });

  test("WB-41 that deviates from its parent is found in the history", () => {
    const wrongs: [string, Partial<HandoffEnvelope>][] = [
      [
        "child_outlives_parent",
        { deadline: new Date(Date.UTC(2026, 0, 1) + 60_001).toISOString() },
      ],
      ["child_correlation_differs", { correlation_id: "another job" }],
      ["child_trace_differs", { traceparent }],
    ];
    for (const [rule, members] of [...wrongs, [undefined, {}] as const]) {
      const writer = new HistoryWriter();
      writer.submit("p");
      writer.submit("c", { parent_id: "p", ...members });
      const found = checkHistory(writer.entries).violations.map((violation) => violation.rule);
      expect(found.filter((each) => each.startsWith("child"))).toEqual(
        rule === undefined ? [] : [rule],
      );
    }
  });
});
