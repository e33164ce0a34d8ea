/// <reference types="node" />
import { createHmac } from "node:crypto";
import { expect, test } from "vitest";
import {
  checkDomain,
  checkEcho,
  checkEnrolment,
  checkInvitation,
  checkHello,
  checkRequest,
  checkRequestBody,
  checkRequestKey,
  checkRequestLine,
  errorOfResponse,
  HTTP_STATUS,
  defaultNewcomers,
  admissionOf,
  formatTime,
  hubIdOf,
  isInnerAddress,
  isNextDelta,
  joinFrames,
  messageCharacters,
  newInvitation,
  newOperatorToken,
  operatorTokenDomain,
  readAgentFrames,
  readDelivery,
  readEnrolment,
  readFindQuery,
  readFound,
  readHandoffView,
  readHello,
  readHubFrames,
  readInvitation,
  readOperatorRequest,
  readProblem,
  readPublished,
  inboxContactAt,
  readPush,
  readPushAnswer,
  readRequest,
  readerOfDelta,
  shapes,
  signEnrolment,
  signHello,
  signOperatorRequest,
  signRequest,
  writeFindQuery,
  writeFound,
  writeHandoffView,
  writeProblem,
  writePublished,
  writePush,
} from "../wire.ts";
import type { Delivery, HandoffView, Hello, RequestClaim } from "../wire.ts";
import {
  provenKey,
  digestOf,
  digestOfJws,
  generateKey,
  newId,
  publicKeyFrom,
  readCompact,
  signManifest,
  STATUS,
  verifyManifest,
  WaybillError,
} from "../index.ts";
import type { StatusCode } from "../index.ts";
import {
  DOMAIN,
  editor,
  EDITOR,
  NOW,
  OTHER_DOMAIN,
  refusal,
  researcher,
  seal,
  statusOf,
  time,
} from "./rules-fixture.ts";

const ID = newId(NOW);
const LIMITS = { characters: messageCharacters() };

const OFFER: Delivery = {
  type: "offer",
  id: `${ID}/1`,
  handoff_id: ID,
  attempt: 1,
  envelope: "a.b.c",
  remaining_ms: 5_000,
  lease_ms: 30_000,
  is_accepted: true,
  resume: "d.e.f",
  answers: ["g.h.i"],
  received_at: { [digestOf("a.b.c")]: formatTime(NOW) },
};
const DELIVERIES: readonly Delivery[] = [
  OFFER,
  { type: "envelope", id: "x", handoff_id: ID, envelope: "a.b.c", received_at: {} },
  { type: "stop", handoff_id: ID, attempt: 2, status: 499, reason: "Cancelled." },
];

const VIEW: HandoffView = {
  id: ID,
  state: "open",
  status: 101,
  deadline: NOW,
  attempts: [{ number: 1, recipient: "worker", state: "accepted", closed: null, status: 101 }],
  isAcknowledged: false,
  envelope: "a.b.c",
  acceptance: "d.e.f",
  questions: ["g.h.i"],
  receivedAt: { [digestOf("a.b.c")]: formatTime(NOW) },
};

/** The value after a round trip over the wire. */
function sent(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

const WRONG: readonly unknown[] = [
  undefined,
  null,
  "",
  "x",
  -1,
  0,
  1.5,

  true,
  [],
  [1],
  {},
];

test("WB-76 every message is read back as it was written", () => {
  for (const delivery of DELIVERIES) {
    expect(readDelivery(sent(delivery))).toEqual(delivery);
  }
  expect(readHandoffView(sent(writeHandoffView(VIEW)))).toEqual(VIEW);
  const published = { manifests: [{ text: "a.b.c", at: NOW }], next: 1 };
  expect(readPublished(sent(writePublished(published)))).toEqual(published);
  const query = {
    capability: "work",
    input: { a: [1] },
    tags: ["x"],
    minReliability: 0.5,
    limit: 7,
  };
  expect(readFindQuery(sent(writeFindQuery(query)))).toEqual(query);
  const leftOut = [{ agent_id: "a", capability: "work", version: "1", reasons: ["no"] }];
  const found = { fits: [], leftOut, next: "work a 1" };
  expect(readFound(sent(writeFound(found)))).toEqual(found);
});

test("WB-76 the readers of deliveries and frames accept exactly what their schemas accept", () => {
  const agentFrames = [
    { type: "hello", proof: "p", credit: 1 },
    { type: "call", number: 0, call: "find", params: {} },
    { type: "taken", handoff_id: ID, attempt: 1 },
    { type: "heartbeat", handoff_id: ID, attempt: 1 },
    { type: "delta", handoff_id: ID, attempt: 1, number: 0, text: "x" },
    { type: "seen", id: "x" },
    { type: "credit", credit: 0 },
    { type: "ping" },
    { type: "pong" },
  ];
  const hubFrames = [
    {
      type: "challenge",
      waybill: 1,
      hub: "hub",
      domain: DOMAIN,
      nonce: "n",
      limits: { message_characters: 1, envelope_bytes: 1 },
    },
    { type: "attached", ping_ms: 1 },
    { type: "reply", number: 0, value: null },
    { type: "delta", handoff_id: ID, attempt: 1, number: 0, text: "x", by: "worker" },
    { type: "ping" },
    { type: "pong" },
  ];
  const { agentFrame, hubFrame, delivery } = shapes();
  const readers = [
    [agentFrames, agentFrame, (value: unknown) => readAgentFrames(JSON.stringify(value), LIMITS)],
    [hubFrames, hubFrame, (value: unknown) => readHubFrames(JSON.stringify(value), LIMITS)],
    [DELIVERIES.map((each) => sent(each)), delivery, readDelivery],
  ] as const;
  let refused = 0;
  for (const [sound, shape, read] of readers) {
    for (const value of sound as Record<string, unknown>[]) {
      const changed = Object.keys(value).flatMap((name) =>
        WRONG.map((wrong) => ({ ...value, [name]: wrong })),
      );
      for (const each of [value, { ...value, more: 1 }, ...changed]) {
        const isTaken = statusOf(() => read(each)) === "taken";
        const given: unknown = sent(each);
        expect(isTaken, JSON.stringify(each)).toBe(shape.safeParse(given).success);
        if (!isTaken) refused++;
      }
    }
  }
  expect(refused).toBeGreaterThan(150);
});

test("WB-76 a fault is named by its place", () => {
  const offer = sent(OFFER) as object;
  expect(refusal(() => readDelivery({ ...offer, attempt: 0 }, "/2/delivery"))).toEqual({
    status: 400,
    at: "/2/delivery/attempt",
  });
  const frames = JSON.stringify([{ type: "ping" }, { type: "seen" }]);
  expect(refusal(() => readAgentFrames(frames, LIMITS))).toEqual({ status: 400, at: "/1/id" });
  expect(refusal(() => readHandoffView({ ...writeHandoffView(VIEW), state: "lost" }))).toEqual({
    status: 400,
    at: "/state",
  });
});

test("WB-76 frames are read by the strict rules for JSON", () => {
  for (const [text, status] of [
    ['{"type":"ping","type":"pong"}', 400],
    ['{"type":"ping","constructor":1}', 400],
    ['{"type":"ping","x":9007199254740993}', 400],
    ['{"type":"ping","x":"\\u0000"}', 400],
    [`{"type":"ping","x":${"[".repeat(100)}${"]".repeat(100)}}`, 413],
    ["ping", 400],
  ] as const) {
    expect(statusOf(() => readAgentFrames(text, LIMITS))).toBe(status);
  }
});

test("WB-245 a delta has 1 to 4,096 UTF-16 code units", () => {
  const delta = { type: "delta", handoff_id: ID, attempt: 1, number: 0 };
  const read = (text: string) => readAgentFrames(JSON.stringify({ ...delta, text }), LIMITS);
  for (const text of ["x", "x".repeat(4_096), "🧾".repeat(2_048)]) {
    expect(read(text)).toMatchObject([{ text }]);
  }
  for (const text of ["", "x".repeat(4_097), "🧾".repeat(2_049)]) {
    expect(refusal(() => read(text))).toEqual({ status: 400, at: "/text" });
  }
});

test("WB-246 a delta goes only to the delegator of the attempt that its sender holds", () => {
  const held = { attempt: 2, delegator: "editor" };
  expect(readerOfDelta(held, { attempt: 2 })).toBe("editor");
  for (const attempt of [1, 3]) expect(readerOfDelta(held, { attempt })).toBeUndefined();
  expect(readerOfDelta(undefined, { attempt: 1 })).toBeUndefined();
});

test("WB-247 a duplicate delta, or one of an earlier attempt, is not shown", () => {
  expect(isNextDelta(undefined, { attempt: 1, number: 3 })).toBe(true);
  const last = { attempt: 2, number: 3 };
  for (const [attempt, number, isNext] of [
    [2, 4, true],
    [2, 9, true],
    [3, 0, true],
    [2, 3, false],
    [2, 2, false],
    [1, 9, false],
  ] as const) {
    expect(isNextDelta(last, { attempt, number })).toBe(isNext);
  }
});

test("WB-77 an error is sent with the status of the table, and read back as it was", () => {
  for (const status of Object.keys(STATUS).map(Number) as StatusCode[]) {
    const error = new WaybillError(status, "What happened.", { at: "/x", retryAfterMs: 12.5 });
    const problem = writeProblem(error);
    expect(problem).toMatchObject({ status: HTTP_STATUS[status], waybill_status: status });
    expect(HTTP_STATUS[status]).toBeGreaterThanOrEqual(400);
    const read = readProblem(sent(problem));
    expect({ ...read.toJSON(), retry_after_ms: 12.5 }).toEqual(error.toJSON());
    expect(errorOfResponse(599, JSON.stringify(problem)).status).toBe(status);
    expect(shapes().problem.safeParse(sent(problem)).success).toBe(true);
  }
  const flagged = new WaybillError(500, "It may pass.", { retryable: true });
  expect(readProblem(sent(writeProblem(flagged))).retryable).toBe(true);
});

test("WB-77 answers of intermediaries are distinguished from answers of a hub", () => {
  for (const passing of [408, 425, 429, 500, 502, 503, 504]) {
    expect(errorOfResponse(passing, "<html>").status).toBe(503);
  }
  expect(errorOfResponse(404, "").status).toBe(404);
  expect(errorOfResponse(418, "{}").status).toBe(500);
  expect(errorOfResponse(401, '{"waybill_status":200000,"detail":"x"}').status).toBe(401);
});

test("WB-78 a message is one frame or an array of them, in order", () => {
  const texts = ['{"type":"ping"}', '{"type":"seen","id":"a"}', '{"type":"pong"}'];
  expect(readAgentFrames(joinFrames(texts), LIMITS).map(({ type }) => type)).toEqual([
    "ping",
    "seen",
    "pong",
  ]);
  expect(joinFrames(texts.slice(0, 1))).toBe(texts[0]);
  for (const text of ['[[{"type":"ping"}]]', '"ping"', "null", "[null]", '{"type":"bow"}', "{}"]) {
    expect(statusOf(() => readAgentFrames(text, LIMITS))).toBe(400);
    expect(statusOf(() => readHubFrames(text, LIMITS))).toBe(400);
  }
  expect(statusOf(() => readAgentFrames('{"type":"attached","ping_ms":1}', LIMITS))).toBe(400);
  expect(statusOf(() => readHubFrames('{"type":"seen","id":"a"}', LIMITS))).toBe(400);
});

test("WB-78 a message with too many frames is 413, before it is parsed as JSON", () => {
  const limits = { ...LIMITS, frames: 1_024 };
  const pings = (count: number) => `[${Array(count).fill('{"type":"ping"}').join(",")}]`;
  expect(readHubFrames(pings(1_024), limits)).toHaveLength(1_024);
  expect(statusOf(() => readHubFrames(pings(1_025), limits))).toBe(413);
  expect(statusOf(() => readAgentFrames(pings(1_025), limits))).toBe(413);
  // The rest is not even read.
  expect(statusOf(() => readHubFrames(`${pings(1_025).slice(0, -1)},nothing`, limits))).toBe(413);
  const inside = JSON.stringify(Array(5_000).fill([1, '],[\\",{']));
  const frame = `{"type":"ping","more":${inside}}`;
  expect(readHubFrames(`[${frame},${frame}]`, limits)).toHaveLength(2);
  const members = Array.from({ length: 5_000 }, (_, index) => `"m${index}":0`).join(",");
  expect(readHubFrames(`{"type":"ping",${members}}`, limits)).toHaveLength(1);
});

test("WB-78 a message over the agreed length is 413", () => {
  const text = JSON.stringify({ type: "seen", id: "x".repeat(100) });
  expect(statusOf(() => readAgentFrames(text, { characters: text.length }))).toBe("taken");
  expect(statusOf(() => readAgentFrames(text, { characters: text.length - 1 }))).toBe(413);
});

test("WB-86 a hub's domain is the key that signed the first manifest of its chain", () => {
  const keys = [editor.jwk, provenKey("hub", researcher)];
  const first = verifyManifest(signManifest({ agent_id: "hub", capabilities: [], keys }, editor), {
    at: NOW,
  });
  const update = { agent_id: "hub", capabilities: [], sequence: 2, previous: first.digest };
  const second = verifyManifest(signManifest({ ...update, keys: [researcher.jwk] }, researcher), {
    at: NOW,
    previous: first,
  });
  expect(statusOf(() => checkDomain(editor.kid, [first]))).toBe("taken");
  // Its key has changed, and its domain has not.
  expect(statusOf(() => checkDomain(editor.kid, [first, second]))).toBe("taken");
  expect(statusOf(() => checkDomain(researcher.kid, [first, second]))).toBe(401);
  expect(statusOf(() => checkDomain(DOMAIN, [first, second]))).toBe(401);
  // A chain without its beginning proves no domain.
  expect(statusOf(() => checkDomain(researcher.kid, [second]))).toBe(401);
  expect(statusOf(() => checkDomain(editor.kid, []))).toBe(401);
});

test("WB-87 a hub without an id is named by its domain", () => {
  const domain = "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k";
  expect(hubIdOf(domain)).toBe(`hub-${digestOf(domain).slice(7, 19)}`);
  expect(hubIdOf(DOMAIN)).not.toBe(hubIdOf(OTHER_DOMAIN));
});

const HELLO: Hello = {
  from: EDITOR,
  to: "hub",
  domain: DOMAIN,
  instance: "i",
  id: ID,
  at: NOW,
  nonce: "n",
};
const FACTS = { to: "hub", domain: DOMAIN, now: NOW, clockSkewMs: 60_000, nonce: "n" };

test("WB-79 a hello is for this hub, current, and answers this challenge", () => {
  const payload = (over: Partial<Hello>) =>
    readCompact(signHello({ ...HELLO, ...over }, editor)).payload;
  const status = (over: Partial<Hello>) =>
    statusOf(() => checkHello(readHello(payload(over)), FACTS));
  expect(status({})).toBe("taken");
  expect(readHello(payload({}))).toEqual(HELLO);
  expect(status({ to: "other" })).toBe(401);
  expect(status({ domain: OTHER_DOMAIN })).toBe(401);
  expect(status({ nonce: "m" })).toBe(401);
  expect(status({ nonce: undefined })).toBe(401);
  expect(status({ at: NOW - 60_000 })).toBe("taken");
  expect(status({ at: NOW - 60_001 })).toBe(401);
  expect(status({ at: NOW + 60_001 })).toBe(401);
  for (const over of [
    { kind: "request" },
    { waybill: 2 },
    { from: "X" },
    { nonce: 1 },
    { to: 1 },
    { domain: undefined },
    { domain: "hub" },
  ]) {
    const text = JSON.stringify({ waybill: 1, kind: "hello", ...HELLO, at: time(0), ...over });
    expect(statusOf(() => readHello(text))).toBe(400);
  }
});

const CLAIM: RequestClaim = {
  from: EDITOR,
  to: "hub",
  domain: DOMAIN,
  id: ID,
  at: NOW,
  method: "GET",
  path: "/v1/inbox?instance=i",
};
const PAYLOAD = { waybill: 1, kind: "request", ...CLAIM, at: time(0) };

test("WB-80 a proof that can't be read, or is something else, is 401", () => {
  const { claim, kid } = readRequest(signRequest(CLAIM, editor));
  expect(claim).toEqual(CLAIM);
  expect(kid).toBe(editor.kid);
  const signed = (over: object) => `Waybill ${seal(JSON.stringify({ ...PAYLOAD, ...over }))}`;
  expect(statusOf(() => readRequest(signed({})))).toBe("taken");
  for (const text of [
    "",
    "Waybill",
    "Waybill ",
    "Waybill x",
    `Bearer ${seal(JSON.stringify(PAYLOAD))}`,
    `${signed({})} `,
    `Waybill ${seal("null")}`,
    `Waybill ${seal("[")}`,
    signed({ kind: "hello" }),
    signed({ waybill: 2 }),
    signed({ from: "X" }),
    signed({ to: undefined }),
    signed({ domain: undefined }),
    signed({ domain: "hub" }),
    signed({ id: "1" }),
    signed({ at: "now" }),
    signed({ method: 1 }),
    signed({ path: undefined }),
    signed({ body_digest: "sha256:x" }),
  ]) {
    expect(
      statusOf(() => readRequest(text)),
      text,
    ).toBe(401);
  }
});

test("WB-80 only a current key of the agent itself proves its requests", () => {
  const key = publicKeyFrom(editor.jwk);
  const record = { agent: EDITOR, key, notBefore: NOW, notAfter: NOW + 1 };
  expect(checkRequestKey(CLAIM, record, NOW)).toBe(record);
  expect(statusOf(() => checkRequestKey(CLAIM, undefined, NOW))).toBe(401);
  expect(statusOf(() => checkRequestKey(CLAIM, record, NOW - 1))).toBe(401);
  expect(statusOf(() => checkRequestKey(CLAIM, record, NOW + 1))).toBe(401);
  const other = { ...record, agent: "other", key: publicKeyFrom(researcher.jwk) };
  expect(statusOf(() => checkRequestKey(CLAIM, other, NOW))).toBe(401);
});

test("WB-81 a proof is for this hub, this method, this path with its query, and current", () => {
  const facts = { ...FACTS, method: "GET", path: CLAIM.path };
  expect(statusOf(() => checkRequest(CLAIM, facts))).toBe("taken");
  for (const over of [
    { to: "other" },
    { domain: OTHER_DOMAIN },
    { method: "POST" },
    { path: "/v1/inbox" },
    { path: `${CLAIM.path}&credit=1` },
    { at: NOW - 60_001 },
    { at: NOW + 60_001 },
  ]) {
    expect(
      statusOf(() => checkRequest({ ...CLAIM, ...over }, facts)),
      JSON.stringify(over),
    ).toBe(401);
  }
});

test("WB-82 a body must be signed for, and a signed body must be there", () => {
  const signed = { ...CLAIM, bodyDigest: digestOf("body") };
  expect(statusOf(() => checkRequestBody(signed, digestOf("body")))).toBe("taken");
  expect(statusOf(() => checkRequestBody(CLAIM, undefined))).toBe("taken");
  expect(statusOf(() => checkRequestBody(signed, digestOf("body ")))).toBe(401);
  expect(statusOf(() => checkRequestBody(signed, undefined))).toBe(401);
  expect(statusOf(() => checkRequestBody(CLAIM, digestOf("")))).toBe(401);
});

const TOKEN = newOperatorToken(DOMAIN);
const OPERATOR_CLAIM = { id: ID, at: NOW, method: "POST", path: "/v1/x?y=1", host: "hub:1" };
const AS_OPERATOR = {
  waybill: 1,
  kind: "operator_request",
  domain: DOMAIN,
  ...OPERATOR_CLAIM,
  at: time(0),
};

/** A proof that an operator may not make, with a valid MAC. */
function operatorProof(over: object, token = TOKEN): string {
  const payload = Buffer.from(JSON.stringify({ ...AS_OPERATOR, ...over })).toString("base64url");
  const message = `waybill operator 1\n${payload}`;
  return `Waybill-Operator ${payload}.${createHmac("sha256", token).update(message).digest("base64url")}`;
}

test("WB-94 a token, and no other one, keys the MAC of a request", () => {
  expect(operatorTokenDomain(TOKEN)).toBe(DOMAIN);
  expect(newOperatorToken(DOMAIN)).not.toBe(TOKEN);
  const proof = signOperatorRequest(OPERATOR_CLAIM, TOKEN);
  expect(readOperatorRequest(proof, TOKEN)).toEqual({ domain: DOMAIN, ...OPERATOR_CLAIM });
  expect(statusOf(() => readOperatorRequest(operatorProof({}), TOKEN))).toBe("taken");
  const other = newOperatorToken(DOMAIN);
  expect(statusOf(() => readOperatorRequest(proof, other))).toBe(401);
  for (const text of ["", "x", `${DOMAIN}.x`, TOKEN.slice(44), `${TOKEN}x`, `${TOKEN} `]) {
    expect(operatorTokenDomain(text)).toBeUndefined();
    expect(statusOf(() => signOperatorRequest(OPERATOR_CLAIM, text))).toBe(400);
  }
});

test("WB-94 an operator's proof that can't be read, or is something else, is 401", () => {
  const proof = operatorProof({});
  for (const text of [
    "",
    "Waybill-Operator",
    "Waybill-Operator ",
    "Waybill-Operator .",
    proof.split(".")[0]!,
    `${proof}.x`,
    `${proof} `,
    proof.replace(" ", "  "),
    proof.replace("Waybill-Operator", "Waybill"),
    `${proof}=`,
    proof.slice(0, -1),
    proof.replace(/ ./, (start) => ` ${start === " e" ? "f" : "e"}`),
    operatorProof({ kind: "request" }),
    operatorProof({ waybill: 2 }),
    operatorProof({ domain: 1 }),
    operatorProof({ host: 1 }),
    operatorProof({ id: "1" }),
    operatorProof({ at: "now" }),
    operatorProof({ method: 1 }),
    operatorProof({ path: undefined }),
    operatorProof({ body_digest: "sha256:x" }),
  ]) {
    expect(
      statusOf(() => readOperatorRequest(text, TOKEN)),
      text,
    ).toBe(401);
  }
});

test("WB-95 an operator's proof is for this domain, this request, and current", () => {
  const claim = { domain: DOMAIN, ...OPERATOR_CLAIM };
  const { method, path } = claim;
  const facts = { domain: DOMAIN, method, path, now: NOW, clockSkewMs: 60_000 };
  expect(statusOf(() => checkRequestLine(claim, facts))).toBe("taken");
  for (const over of [
    { domain: OTHER_DOMAIN },
    { method: "GET" },
    { path: "/v1/x" },
    { at: NOW - 60_001 },
    { at: NOW + 60_001 },
  ]) {
    expect(
      statusOf(() => checkRequestLine({ ...claim, ...over }, facts)),
      JSON.stringify(over),
    ).toBe(401);
  }
  const signed = { ...claim, bodyDigest: digestOf("body") };
  const read = readOperatorRequest(signOperatorRequest(signed, TOKEN), TOKEN);
  expect(statusOf(() => checkRequestBody(read, digestOf("body")))).toBe("taken");
  expect(statusOf(() => checkRequestBody(read, digestOf("other")))).toBe(401);
  expect(read.host).toBe(OPERATOR_CLAIM.host);
});

test("WB-96 the token is not in the proof, and is no proof itself", () => {
  const proof = signOperatorRequest(OPERATOR_CLAIM, TOKEN);
  const [payload] = proof.slice("Waybill-Operator ".length).split(".");
  const everything = proof + Buffer.from(payload!, "base64url").toString();
  expect(everything).not.toContain(TOKEN.slice(44));
  for (const text of [`Bearer ${TOKEN}`, `Waybill-Operator ${TOKEN}`, TOKEN]) {
    expect(statusOf(() => readOperatorRequest(text, TOKEN))).toBe(401);
  }
  // Whatever a hub claims: only the token says for which domain the proof is.
  const misled = { ...OPERATOR_CLAIM, domain: OTHER_DOMAIN };
  expect(readOperatorRequest(signOperatorRequest(misled, TOKEN), TOKEN).domain).toBe(DOMAIN);
});

const INVITATION = newInvitation(DOMAIN);
const NEWCOMER = generateKey();
const FIRST = signManifest({ agent_id: "anna", capabilities: [] }, NEWCOMER);
const ENROLMENT = {
  domain: DOMAIN,
  agent: "anna",
  kid: NEWCOMER.kid,
  manifest: digestOfJws(FIRST),
} as const;

test("WB-111 an invitation keys the MAC of an enrolment, for exactly this manifest", () => {
  const { invitation, verify } = readEnrolment(signEnrolment(FIRST, INVITATION));
  expect(invitation).toBe(readInvitation(INVITATION)!.id);
  const claim = verify(INVITATION);
  expect(claim).toEqual(ENROLMENT);
  expect(statusOf(() => checkEnrolment(claim, ENROLMENT))).toBe("taken");
  const others = { domain: OTHER_DOMAIN, agent: "ben", kid: DOMAIN, manifest: digestOf("") };
  for (const [member, other] of Object.entries(others)) {
    const over = { ...ENROLMENT, [member]: other };
    expect(
      statusOf(() => checkEnrolment(claim, over)),
      member,
    ).toBe(401);
  }
  expect(statusOf(() => verify(newInvitation(DOMAIN)))).toBe(401);
});

test("WB-110 a newcomer is admitted by the operator's policy, and otherwise told what to do", () => {
  const newcomer = { agent: "anna", kid: NEWCOMER.kid, isAllowed: false, hasInvitation: false };
  const allowed = { ...newcomer, isAllowed: true };
  const invited = { ...newcomer, hasInvitation: true };
  for (const each of [newcomer, allowed, invited]) expect(admissionOf("open", each)).toBe("open");
  expect(admissionOf("allow-list", allowed)).toBe("allow_list");
  expect(admissionOf("invitation", allowed)).toBe("allow_list");
  expect(admissionOf("invitation", invited)).toBe("invitation");
  for (const [newcomers, each] of [
    ["allow-list", newcomer],
    ["allow-list", invited],
    ["invitation", newcomer],
  ] as const) {
    expect(statusOf(() => admissionOf(newcomers, each))).toBe(403);
    expect(() => admissionOf(newcomers, each)).toThrow(`waybill agents allow ${NEWCOMER.kid}`);
  }
  expect(defaultNewcomers({ isLocal: true })).toBe("open");
  expect(defaultNewcomers({ isLocal: false })).toBe("invitation");
});

test("WB-112 an invitation admits one agent, in its time, and the one that it is for", () => {
  const facts = { expiresAt: NOW };
  expect(statusOf(() => checkInvitation(facts, "anna", NOW - 1))).toBe("taken");
  expect(statusOf(() => checkInvitation({ ...facts, agent: "anna" }, "anna", NOW - 1))).toBe(
    "taken",
  );
  expect(statusOf(() => checkInvitation(facts, "anna", NOW))).toBe(403);
  expect(statusOf(() => checkInvitation({ ...facts, agent: "ben" }, "anna", NOW - 1))).toBe(403);
  for (const usedBy of ["anna", "ben"]) {
    expect(statusOf(() => checkInvitation({ ...facts, usedBy }, "anna", NOW - 1))).toBe(403);
  }
});

test("WB-113 the invitation is not in the proof, and is no proof itself", () => {
  const proof = signEnrolment(FIRST, INVITATION);
  const parts = proof.split(".").map((part) => Buffer.from(part, "base64url").toString());
  const everything = proof + parts.join("");
  expect(everything).not.toContain(INVITATION.split(".")[2]);
  expect(statusOf(() => readEnrolment(INVITATION).verify(INVITATION))).toBe(401);
  expect(readInvitation(INVITATION)).toEqual({ domain: DOMAIN, id: INVITATION.split(".")[1] });
  for (const text of ["", "x", `${INVITATION}x`, TOKEN, INVITATION.slice(44)]) {
    expect(readInvitation(text), text).toBeUndefined();
    expect(statusOf(() => signEnrolment(FIRST, text))).toBe(400);
  }
});

test("WB-83 a push is from the hub, for this agent, with exactly this body", () => {
  const body = writePush({ hub: "hub", agent: EDITOR, deliveries: DELIVERIES });
  expect(readPush(body)).toEqual({ hub: "hub", agent: EDITOR, deliveries: DELIVERIES });
  const url = "/inbox?of=editor";
  const claim: RequestClaim = {
    from: "hub",
    to: EDITOR,
    domain: DOMAIN,
    id: ID,
    at: NOW,
    method: "POST",
    path: url,
    bodyDigest: digestOf(body),
  };
  const facts = { ...FACTS, to: EDITOR, method: "POST", path: url };
  const hub = { agent: "hub", key: publicKeyFrom(editor.jwk), notBefore: NOW, notAfter: NOW + 1 };
  const status = (over: Partial<RequestClaim>, key = hub) =>
    statusOf(() => {
      const { claim: read } = readRequest(signRequest({ ...claim, ...over }, editor));
      checkRequest(read, facts);
      checkRequestKey(read, key, NOW);
      checkRequestBody(read, digestOf(body));
    });
  expect(status({})).toBe("taken");
  expect(status({ to: "other" })).toBe(401);
  expect(status({ domain: OTHER_DOMAIN })).toBe(401);
  expect(status({ path: "/inbox" })).toBe(401);
  expect(status({ bodyDigest: digestOf("{}") })).toBe(401);
  expect(status({ from: "stranger" })).toBe(401);
  expect(status({}, { ...hub, agent: "other" })).toBe(401);
});

test("WB-97 deliveries go only to an inbox that has echoed the challenge", () => {
  expect(statusOf(() => checkEcho("a challenge", { echo: "a challenge" }))).toBe("taken");
  for (const answer of [{}, { echo: "" }, { echo: "another" }, { envelopes: ["a challenge"] }]) {
    expect(statusOf(() => checkEcho("a challenge", answer))).toBe(401);
  }
  // A server that echoes the whole request has not answered.
  const push = writePush({ hub: "hub", agent: EDITOR, deliveries: [], challenge: "a challenge" });
  expect(statusOf(() => checkEcho("a challenge", readPushAnswer(push)))).toBe(401);
});

test("WB-98 the challenge of a push is read, and its echo is written", () => {
  const challenge = "a challenge";
  const body = writePush({ hub: "hub", agent: EDITOR, deliveries: [], challenge });
  const push = readPush(body);
  expect(push.challenge).toBe(challenge);
  expect(readPushAnswer(JSON.stringify({ echo: push.challenge }))).toEqual({ echo: challenge });
  for (const text of ['{"echo":1}', `{"echo":"${"x".repeat(257)}"}`]) {
    expect(statusOf(() => readPushAnswer(text))).toBe(400);
  }
});

test("WB-99 an inbox that fails is retried with growing delays, until another one is named", () => {
  const waits = { firstMs: 1_000, mostMs: 60_000 };
  const inbox = "https://inbox.example/";
  const contactAt = (failures: number, named = inbox) =>
    inboxContactAt({ inbox, failures, at: NOW }, named, waits);
  expect([1, 2, 3, 7, 100].map((failures) => contactAt(failures) - NOW)).toEqual([
    1_000, 2_000, 4_000, 60_000, 60_000,
  ]);
  expect(inboxContactAt(undefined, inbox, waits)).toBeLessThan(NOW);
  expect(contactAt(100, "https://other.example/")).toBeLessThan(NOW);
});

test("WB-83 a push or an answer that breaks its schema is 400", () => {
  const push = { waybill: 1, hub: "hub", agent: EDITOR, deliveries: [] };
  expect(readPush(JSON.stringify(push)).deliveries).toEqual([]);
  for (const over of [
    { waybill: 2 },
    { hub: "X" },
    { agent: undefined },
    { deliveries: {} },
    { deliveries: [{ type: "bow" }] },
  ]) {
    expect(statusOf(() => readPush(JSON.stringify({ ...push, ...over })))).toBe(400);
  }
  expect(readPushAnswer(" ")).toEqual({});
  const answer = { envelopes: ["a.b.c"], taken: [{ handoff_id: ID, attempt: 1 }] };
  expect(readPushAnswer(JSON.stringify(answer))).toEqual(answer);
  for (const text of [
    "ok",
    "[]",
    '{"envelopes":[1]}',
    '{"taken":[{}]}',
    '{"taken":[],"taken":[]}',
  ]) {
    expect(statusOf(() => readPushAnswer(text))).toBe(400);
  }
});

test("WB-84 an address that is not global is inner, and so is one that can't be read", () => {
  const inner = [
    "0.0.0.0",
    "10.1.2.3",
    "100.64.0.1",
    "100.127.255.255",
    "127.0.0.1",
    "127.255.255.254",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.8",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.1.1",
    "198.18.0.1",
    "198.19.255.255",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::ffff:127.0.0.1",
    "::ffff:7f00:1",
    "::7f00:1",
    "64:ff9b::7f00:1",
    "100::1",
    "fc00::1",
    "fdff::1",
    "fe80::1",
    "fe80::1%eth0",
    "fec0::1",
    "ff02::1",
    "2001::1",
    "2001:0db8::1",
    "2002:7f00:1::",
    "3fff::1",
    "4000::1",
    "127.1",
    "0x7f000001",
    "2130706433",
    "0177.0.0.1",
    "8.8.8.08",
    "256.1.1.1",
    "[2606::1]",
    "2606:::1",
    "2606::1::2",
    "2606:1:2:3:4:5:6",
    "localhost",
    "",
  ];
  expect(inner.filter((address) => !isInnerAddress(address))).toEqual([]);
  const outer = [
    "1.1.1.1",
    "9.255.255.255",
    "11.0.0.0",
    "100.63.255.255",
    "100.128.0.0",
    "126.255.255.255",
    "128.0.0.0",
    "169.253.0.1",
    "172.15.255.255",
    "172.32.0.0",
    "192.0.1.0",
    "192.169.0.0",
    "198.17.255.255",
    "198.20.0.0",
    "223.255.255.255",
    "2606:4700:4700::1111",
    "2001:200::1",
    "2a00:1450:4001:0830:0:0:0:200e",
    "2003::",
  ];
  expect(outer.filter(isInnerAddress)).toEqual([]);
});
