import * as crypto from "node:crypto";
import { vectorFile } from "./case.ts";
import type { Row, VectorFile } from "./case.ts";
import {
  digest,
  digestOfJws,
  editor,
  enrolled,
  hub,
  id,
  keyringOf,
  MINUTE,
  NOW,
  party,
  provenBy,
  researcher,
  sha256,
  stranger,
  timeAt,
} from "./parties.ts";
import { base64url } from "./text.ts";
import type { Text } from "./text.ts";
import { signed } from "./wire.ts";

type Members = Record<string, unknown>;

const HANDOFF = id(1);
const CHARACTERS = 2_000;

/** How a reader interprets a message on a socket: the types of its frames, in order. */
function frames(
  rules: readonly number[],
  title: string,
  to: "hub" | "agent",
  text: Text,
  expected: number | readonly string[],
  at?: string,
): Row {
  return {
    rules,
    title,
    input: { operation: "frames", to, text, characters: CHARACTERS },
    expect:
      typeof expected === "number"
        ? { status: expected, ...(at !== undefined && { at }) }
        : { status: "ok", types: expected },
  };
}

const toHub = (
  rules: readonly number[],
  title: string,
  value: unknown,
  expected: number | readonly string[],
  at?: string,
): Row => frames(rules, title, "hub", JSON.stringify(value), expected, at);

const toAgent = (
  rules: readonly number[],
  title: string,
  value: unknown,
  expected: number | readonly string[],
  at?: string,
): Row => frames(rules, title, "agent", JSON.stringify(value), expected, at);

const TAKEN = { type: "taken", handoff_id: HANDOFF, attempt: 1 };
const DELTA = { type: "delta", handoff_id: HANDOFF, attempt: 1, number: 0, text: "Tea " };
const CALL = { type: "call", number: 7, call: "submit", params: { envelope: "…" } };
const CHALLENGE = {
  type: "challenge",
  waybill: 1,
  hub: "hub",
  domain: hub.kid,
  nonce: "n",
  limits: { message_characters: 10, envelope_bytes: 9 },
};

const OFFER = {
  type: "offer",
  id: `${HANDOFF}/1`,
  handoff_id: HANDOFF,
  attempt: 1,
  envelope: "…",
  remaining_ms: 60_000,
  lease_ms: 30_000,
  is_accepted: false,
  answers: [],
  received_at: { [digest("x")]: timeAt() },
};

function delivery(title: string, value: unknown, expected: number | Members, at?: string): Row {
  return {
    rules: [76],
    title,
    input: { operation: "delivery", value },
    expect:
      typeof expected === "number"
        ? { status: expected, ...(at !== undefined && { at }) }
        : { status: "ok", ...expected },
  };
}

function answered(title: string, http: number, body: unknown, expected: Members): Row {
  return {
    rules: [77],
    title,
    input: {
      operation: "answer",
      http_status: http,
      body: typeof body === "string" ? body : JSON.stringify(body),
    },
    expect: expected,
  };
}

const PROBLEM = {
  type: "urn:waybill:status:410",
  title: "…",
  status: 410,
  detail: "It is closed.",
  waybill_status: 410,
  code: "SUPERSEDED",
  retryable: false,
  remedy: "…",
};

const HELLO: Members = {
  waybill: 1,
  kind: "hello",
  from: editor.agent,
  to: "hub",
  domain: hub.kid,
  instance: "a process",
  id: id(2),
  at: timeAt(),
  nonce: "n",
};

function hello(title: string, over: Members, status: number | "ok"): Row {
  return {
    rules: [79],
    title,
    input: {
      operation: "hello",
      payload: JSON.stringify({ ...HELLO, ...over }),
      to: "hub",
      domain: hub.kid,
      nonce: "n",
      at: NOW,
    },
    expect: { status },
  };
}

const BODY = '{"instance":"a process"}';
const PATH = "/v1/inbox?instance=a&wait_seconds=20";
const CLAIM: Members = {
  waybill: 1,
  kind: "request",
  from: editor.agent,
  to: "hub",
  domain: hub.kid,
  id: id(3),
  at: timeAt(),
  method: "GET",
  path: PATH,
};
const KEYRING = keyringOf(editor, researcher);
const proof = (over: Members = {}, signer = editor): string =>
  `Waybill ${signed({ ...CLAIM, ...over }, signer)}`;

function request(
  rules: readonly number[],
  title: string,
  status: number | "ok",
  input: Members,
): Row {
  return {
    rules,
    title,
    input: {
      operation: "request",
      authorization: proof(),
      to: "hub",
      domain: hub.kid,
      method: "GET",
      path: PATH,
      at: NOW,
      keyring: KEYRING,
      ...input,
    },
    expect: { status },
  };
}

const TOKEN = `${editor.kid}.${base64url(sha256("waybill vectors: operator"))}`;
const OTHER_TOKEN = `${editor.kid}.${base64url(sha256("waybill vectors: another operator"))}`;
const OPERATOR_PATH = "/v1/dead-letters?limit=10";

/** The proof of an operator: an HMAC of its payload, keyed by a token that is not in it. */
function operatorProof(
  over: Members = {},
  { token = TOKEN, words = "waybill operator 1", payload }: Record<string, string> = {},
): string {
  const claim = {
    waybill: 1,
    kind: "operator_request",
    domain: editor.kid,
    host: "127.0.0.1:7411",
    id: id(4),
    at: timeAt(),
    method: "GET",
    path: OPERATOR_PATH,
    ...over,
  };
  const encoded = base64url(payload ?? JSON.stringify(claim));
  const mac = crypto.createHmac("sha256", token).update(`${words}\n${encoded}`).digest();
  return `Waybill-Operator ${encoded}.${base64url(mac)}`;
}

const operator = (
  rules: readonly number[],
  title: string,
  status: number | "ok",
  input: Members = {},
): Row => ({
  rules,
  title,
  input: {
    operation: "operator_request",
    authorization: operatorProof(),
    token: TOKEN,
    method: "GET",
    path: OPERATOR_PATH,
    at: NOW,
    ...input,
  },
  expect: { status },
});

const INVITATION = `${editor.kid}.${base64url(sha256("waybill vectors: id").subarray(0, 16))}.${base64url(sha256("waybill vectors: invitation"))}`;
const FIRST_MANIFEST = signed(
  {
    waybill: 1,
    kind: "manifest",
    agent_id: researcher.agent,
    sequence: 1,
    capabilities: [],
    keys: [researcher.jwk],
  },
  researcher,
);

/** The proof of an invitation: an HMAC of its payload, keyed by the invitation that is not in it. */
function enrolmentProof(
  over: Members = {},
  { token = INVITATION, words = "waybill invitation 1", payload }: Record<string, string> = {},
): string {
  const claim = {
    waybill: 1,
    kind: "enrolment",
    domain: editor.kid,
    agent: researcher.agent,
    kid: researcher.kid,
    manifest: digestOfJws(FIRST_MANIFEST),
    ...over,
  };
  const given = `${INVITATION.split(".")[1]}.${base64url(payload ?? JSON.stringify(claim))}`;
  const mac = crypto.createHmac("sha256", token).update(`${words}\n${given}`).digest();
  return `${given}.${base64url(mac)}`;
}

const enrolment = (
  title: string,
  status: number | "ok",
  given: string,
  over: Members = {},
): Row => ({
  rules: [111],
  title,
  input: {
    operation: "enrolment",
    manifest: FIRST_MANIFEST,
    proof: given,
    token: INVITATION,
    domain: editor.kid,
    ...over,
  },
  expect: { status },
});

const newcomer = (
  title: string,
  status: number | "ok",
  newcomers: string,
  [isAllowed, hasInvitation]: readonly [boolean, boolean],
): Row => ({
  rules: [110],
  title,
  input: {
    operation: "newcomer",
    newcomers,
    agent: researcher.agent,
    kid: researcher.kid,
    is_allowed: isAllowed,
    has_invitation: hasInvitation,
  },
  expect: { status },
});

const invitation = (title: string, status: number | "ok", over: Members = {}): Row => ({
  rules: [112],
  title,
  input: {
    operation: "invitation",
    newcomer: researcher.agent,
    expires_at: NOW + MINUTE,
    at: NOW,
    ...over,
  },
  expect: { status },
});

const reservedId = (
  title: string,
  agent: string,
  isReserved: boolean,
  names: readonly string[] = [],
): Row => ({
  rules: [131],
  title,
  input: { operation: "reserved_id", agent, names },
  expect: { is_reserved: isReserved },
});

interface Root {
  readonly id: string;
  readonly delegator: string;
  readonly recipients: readonly string[];
}

const root = (number: string, delegator: string, ...recipients: readonly string[]): Root => ({
  id: number,
  delegator,
  recipients,
});

/** `job`: the ids of the handoffs that belong to the job; all others are listed apart. */
const correlated = (title: string, handoffs: readonly Root[], job: readonly string[]): Row => ({
  rules: [132],
  title,
  input: { operation: "job", handoffs },
  expect: {
    job,
    apart: handoffs.map((each) => each.id).filter((each) => !job.includes(each)),
  },
});

const post = (title: string, status: number | "ok", over: Members, body?: string): Row =>
  request([82], title, status, {
    authorization: proof({ method: "POST", ...over }),
    method: "POST",
    ...(body !== undefined && { body }),
  });

const PUSH = '{"waybill":1,"hub":"hub","agent":"researcher","deliveries":[]}';
const CHALLENGE_TEXT = "n3Xv0cT0bJq1mK5y";
const PUSH_CHALLENGE = `{"waybill":1,"hub":"hub","agent":"researcher","deliveries":[],"challenge":"${CHALLENGE_TEXT}"}`;
const PUSH_PATH = "/inbox?of=researcher";

/** What a hub posts to an agent's inbox, with the signature of the request. */
const pushed = (
  title: string,
  status: number | "ok",
  over: Members,
  input: Members = {},
  signer = editor,
  echo?: string,
): Row => ({
  rules: echo === undefined ? [83] : [83, 98],
  title,
  input: {
    operation: "push",
    authorization: proof(
      { method: "POST", path: PUSH_PATH, from: editor.agent, to: "researcher", ...over },
      signer,
    ),
    to: "researcher",
    domain: hub.kid,
    method: "POST",
    path: PUSH_PATH,
    at: NOW,
    keyring: KEYRING,
    body: PUSH,
    ...input,
  },
  expect: echo === undefined ? { status } : { status, echo },
});

const echoed = (title: string, answer: string, status: number | "ok"): Row => ({
  rules: [97],
  title,
  input: { operation: "echo", challenge: CHALLENGE_TEXT, answer },
  expect: { status },
});

const HELD = { attempt: 2, delegator: "editor" };
const LAST = { attempt: 2, number: 3 };

const INBOX = "https://inbox.example/of/researcher";

const contacted = (
  title: string,
  [failures, afterMs]: readonly [number, number],
  mayContact: boolean,
  inbox = INBOX,
): Row => ({
  rules: [99],
  title,
  input: {
    operation: "inbox_contact",
    failed: { inbox: INBOX, failures, at: NOW },
    first_ms: 1_000,
    most_ms: 60_000,
    inbox,
    at: NOW + afterMs,
  },
  expect: { may_contact: mayContact },
});

/** What an agent holds, and to whom its delta of this attempt goes. */
const readBy = (
  title: string,
  held: { attempt: number; delegator: string } | null,
  attempt: number,
  reader: string | null,
): Row => ({
  rules: [246],
  title,
  input: { operation: "delta_reader", held, attempt },
  expect: { reader },
});

/** The last delta that was shown, and whether this one is shown after it. */
const shownAfter = (
  title: string,
  last: { attempt: number; number: number } | null,
  [attempt, number]: readonly [number, number],
  is_shown: boolean,
): Row => ({
  rules: [247],
  title,
  input: { operation: "delta_order", last, delta: { attempt, number } },
  expect: { is_shown },
});

const BLOB = digest("film");

/** A part of an upload of which this much has arrived. */
const part = (
  title: string,
  content_range: string,
  [received, size]: readonly [number, number?],
  expected: Members,
): Row => ({
  rules: [250],
  title: `a part: ${title}`,
  input: { operation: "blob_part", content_range, received, size: size ?? null },
  expect: expected,
});

/** A complete upload, by the digest of its bytes. */
const uploaded = (title: string, actual: string, expected: Members): Row => ({
  rules: [251],
  title: `an upload: ${title}`,
  input: { operation: "blob_uploaded", digest: BLOB, uploaded: actual },
  expect: expected,
});

/** A blob reference in an envelope whose sender may know this size, or none. */
const namedBlob = (title: string, size: number, known: number | null, expected: Members): Row => ({
  rules: [252],
  title: `an artifact: ${title}`,
  input: { operation: "blob_named", digest: BLOB, size, known },
  expect: expected,
});

/** The response to a range request for a blob of ten bytes. */
const ranged = (title: string, range: string | null, expected: Members): Row => ({
  rules: [253],
  title: `a range: ${title}`,
  input: { operation: "blob_range", range, size: 10 },
  expect: expected,
});

/** What has arrived as a blob of ten bytes. */
const readBlob = (title: string, actual: string, size: number, expected: Members): Row => ({
  rules: [255],
  title: `a blob that was read: ${title}`,
  input: {
    operation: "blob_received",
    named: { digest: BLOB, size: 10 },
    received: { digest: actual, size },
  },
  expect: expected,
});

const HUB_MANIFEST: Members = {
  waybill: 1,
  kind: "manifest",
  agent_id: hub.agent,
  capabilities: [],
  sequence: 1,
};
const newKey = party(hub.agent, "the hub's second key");
const CHAIN_BEGUN = signed({ ...HUB_MANIFEST, keys: [hub.jwk, provenBy(newKey)] }, hub);
const CHAIN_ROTATED = signed(
  { ...HUB_MANIFEST, keys: [newKey.jwk], sequence: 2, previous: digestOfJws(CHAIN_BEGUN) },
  newKey,
);

/** A hub claims a domain, and shows these manifests. */
const domain = (
  title: string,
  named: string,
  manifests: readonly string[],
  status: number | "ok",
): Row => ({
  rules: [86],
  title,
  input: { operation: "domain", domain: named, manifests, at: NOW },
  expect: { status },
});

const hubId = (title: string, named: string): Row => ({
  rules: [87],
  title,
  input: { operation: "hub_id", domain: named },
  expect: { hub: `hub-${sha256(named).toString("hex").slice(0, 12)}` },
});

const address = (text: string, is_inner: boolean): Row => ({
  rules: [84],
  title: `${text === "" ? "no address" : text} is ${is_inner ? "inner" : "of the world"}`,
  input: { operation: "address", address: text },
  expect: { is_inner },
});

export const HUBS: VectorFile = vectorFile(
  "hubs",
  "hub",
  "What an agent and a hub say to each other around the envelopes.",
  [
    toHub([78], "one frame", TAKEN, ["taken"]),
    toHub([78], "an array of frames", [CALL, TAKEN, { type: "ping" }], ["call", "taken", "ping"]),
    toHub([78], "an array without a frame", [], []),
    toHub([76], "members that nobody knows", { ...TAKEN, more: { a: 1 } }, ["taken"]),
    toHub([78], "a frame of another type", { type: "bow" }, 400, "/type"),
    toHub([78], "a frame of a hub, sent to a hub", CHALLENGE, 400, "/type"),
    toHub([78], "a type from an object's prototype", { type: "toString" }, 400, "/type"),
    toHub([78], "a frame that is none", "taken", 400, ""),
    toHub([78], "an array in an array", [[TAKEN]], 400, "/0"),
    toHub([245], "a delta", DELTA, ["delta"]),
    toHub([245], "a delta without a character", { ...DELTA, text: "" }, 400, "/text"),
    toHub([245], "a delta without a number", { ...DELTA, number: null }, 400, "/number"),
    toHub([76], "attempt 0", { ...TAKEN, attempt: 0 }, 400, "/attempt"),
    toHub([76], "half an attempt", { ...TAKEN, attempt: 1.5 }, 400, "/attempt"),
    toHub([76], "the second frame lacks a member", [TAKEN, { type: "seen" }], 400, "/1/id"),
    toHub([76], "a call of what there is not", { ...CALL, call: "drop" }, 400, "/call"),
    toHub([76], "a call without parameters", { ...CALL, params: null }, 400, "/params"),
    toHub([76], "a negative credit", { type: "credit", credit: -1 }, 400, "/credit"),
    toHub([76], "a hello without a proof", { type: "hello", credit: 1 }, 400, "/proof"),
    frames([76], "a member twice", "hub", '{"type":"seen","id":"a","id":"b"}', 400),
    frames([76], "a forbidden name", "hub", '{"type":"ping","__proto__":{}}', 400),
    frames([76], "no JSON", "hub", "taken", 400),
    frames(
      [78],
      "longer than the hub has said",
      "hub",
      { concat: ['{"type":"seen","id":"', { repeat: "x", times: CHARACTERS }, '"}'] },
      413,
    ),
    frames(
      [76],
      "too deep",
      "hub",
      {
        concat: [
          { repeat: "[", times: 200 },
          { repeat: "]", times: 200 },
        ],
      },
      413,
    ),
    toAgent(
      [78],
      "frames of a hub",
      [
        CHALLENGE,
        { type: "attached", ping_ms: 15_000 },
        { type: "reply", number: 0, value: null },
        { type: "reply", number: 1, problem: PROBLEM },
        { type: "reply", number: 2, also: [3, 4], value: { receipt: "…" } },
        { type: "delivery", delivery: OFFER },
        { ...DELTA, by: "worker" },
        { type: "closed", problem: PROBLEM },
      ],
      ["challenge", "attached", "reply", "reply", "reply", "delivery", "delta", "closed"],
    ),
    toAgent([78], "a frame of an agent, sent to an agent", TAKEN, 400, "/type"),
    toAgent([245], "a delta of nobody", DELTA, 400, "/by"),
    toAgent([76], "a challenge of another version", { ...CHALLENGE, waybill: 2 }, 400, "/waybill"),
    toAgent([76], "a challenge without a domain", { ...CHALLENGE, domain: null }, 400, "/domain"),
    toAgent([76], "a reply that says nothing", { type: "reply", number: 1 }, 400),
    toAgent(
      [76],
      "a reply to calls without numbers",
      { type: "reply", number: 1, also: ["2"], value: null },
      400,
    ),

    delivery("an offer", OFFER, { type: "offer" }),
    delivery("an offer with more than anybody knows", { ...OFFER, x: 1 }, { type: "offer" }),
    delivery("a delivery of another type", { ...OFFER, type: "gift" }, 400, "/type"),
    delivery("an offer without its envelope", { ...OFFER, envelope: null }, 400, "/envelope"),
    delivery("answers that are no list", { ...OFFER, answers: {} }, 400, "/answers"),
    delivery("a lease below zero", { ...OFFER, lease_ms: -1 }, 400, "/lease_ms"),
    delivery(
      "a time that is none",
      { ...OFFER, received_at: { x: "2026-02-30T00:00:00Z" } },
      400,
      "/received_at/x",
    ),
    delivery(
      "a stop",
      { type: "stop", handoff_id: HANDOFF, attempt: 1, status: 410, reason: "…" },
      { type: "stop" },
    ),
    delivery(
      "a stop with a status that there is not",
      { type: "stop", handoff_id: HANDOFF, attempt: 1, status: 418, reason: "…" },
      400,
      "/status",
    ),

    answered("a problem", 410, PROBLEM, { status: 410, retryable: false }),
    answered("a problem goes by its own status", 503, PROBLEM, { status: 410 }),
    answered(
      "a problem that says when",
      429,
      { ...PROBLEM, waybill_status: 301, retry_after_ms: 5 },
      {
        status: 301,
        retry_after_ms: 5,
      },
    ),
    answered(
      "a problem with a status that there is not",
      418,
      { ...PROBLEM, waybill_status: 418 },
      {
        status: 500,
      },
    ),
    answered("the page of a proxy", 502, "<html>Bad Gateway</html>", { status: 503 }),
    answered("a proxy that is asked too much", 429, "", { status: 503 }),
    answered("somebody's 404", 404, "{}", { status: 404 }),
    answered("somebody's 418", 418, "teapot", { status: 500 }),

    domain("a domain, and the manifest that it is named by", hub.kid, [CHAIN_BEGUN], "ok"),
    domain("the key has changed, and not the domain", hub.kid, [CHAIN_BEGUN, CHAIN_ROTATED], "ok"),
    domain("the domain is a later key", newKey.kid, [CHAIN_BEGUN, CHAIN_ROTATED], 401),
    domain("the domain of somebody else", stranger.kid, [CHAIN_BEGUN], 401),
    domain("no manifest at all", hub.kid, [], 401),
    hubId("the id of a hub that was given none", hub.kid),
    hubId("the id of another hub that was given none", stranger.kid),

    hello("a hello", {}, "ok"),
    hello("a hello with more than anybody knows", { more: 1 }, "ok"),
    hello("a hello for another hub", { to: "other" }, 401),
    hello("a hello for another domain", { domain: stranger.kid }, 401),
    hello("a hello without a domain", { domain: undefined }, 400),
    hello("a hello for a domain that is no thumbprint", { domain: "hub" }, 400),
    hello("a hello with another nonce", { nonce: "m" }, 401),
    hello("a hello without a nonce", { nonce: undefined }, 401),
    hello("a hello from long ago", { at: timeAt(-MINUTE - 1) }, 401),
    hello("a hello from the future", { at: timeAt(MINUTE + 1) }, 401),
    hello("a hello from a minute ago", { at: timeAt(-MINUTE) }, "ok"),
    hello("a request is no hello", { kind: "request" }, 400),
    hello("a hello of another version", { waybill: 2 }, 400),
    hello("a hello of nobody", { from: "Nobody" }, 400),
    hello("a nonce that is no text", { nonce: 1 }, 400),

    request([80], "a signed request", "ok", {}),
    request([80], "another scheme", 401, { authorization: proof().replace("Waybill", "Bearer") }),
    request([80], "two spaces", 401, { authorization: proof().replace(" ", "  ") }),
    request([80], "more behind it", 401, { authorization: `${proof()} x` }),
    request([80], "no JWS", 401, { authorization: "Waybill x" }),
    request([80], "a hello is no proof of a request", 401, {
      authorization: proof({ kind: "hello" }),
    }),
    request([80], "another version", 401, { authorization: proof({ waybill: 2 }) }),
    request([80], "an id that is none", 401, { authorization: proof({ id: "1" }) }),
    request([80], "a digest that is none", 401, { authorization: proof({ body_digest: "x" }) }),
    request([80], "signed with somebody else's key", 401, {
      authorization: proof({}, researcher),
    }),
    request([80], "signed with a key that nobody has enrolled", 401, {
      authorization: proof({}, stranger),
    }),
    request([80], "signed with a key that is retired", 401, {
      keyring: { [editor.kid]: enrolled(editor, { not_after: NOW }) },
    }),
    request([80], "changed after it was signed", 401, {
      authorization: proof().replace(/\.[^.]+\./, (payload) => `${payload.slice(0, -2)}A.`),
    }),
    request([81], "for another hub", 401, { authorization: proof({ to: "other" }) }),
    request([81], "for a hub of that name in another domain", 401, {
      authorization: proof({ domain: stranger.kid }),
    }),
    request([80], "for no domain", 401, { authorization: proof({ domain: undefined }) }),
    request([80], "for a domain that is no thumbprint", 401, {
      authorization: proof({ domain: "hub" }),
    }),
    request([81], "for another path", 401, { path: "/v1/inbox?instance=b&wait_seconds=20" }),
    request([81], "for the path without its query", 401, {
      authorization: proof({ path: "/v1/inbox" }),
    }),
    request([81], "for another method", 401, { method: "POST" }),
    request([81], "from a minute ago", "ok", { authorization: proof({ at: timeAt(-MINUTE) }) }),
    request([81], "from longer ago", 401, { authorization: proof({ at: timeAt(-MINUTE - 1) }) }),
    request([81], "from the future", 401, { authorization: proof({ at: timeAt(MINUTE + 1) }) }),
    post("a body that is signed for", "ok", { body_digest: digest(BODY) }, BODY),
    post("a body that is not signed for", 401, {}, BODY),
    post("another body", 401, { body_digest: digest(BODY) }, `${BODY} `),
    post("a body that was signed for and is not there", 401, { body_digest: digest(BODY) }),

    operator([94], "a request of an operator", "ok"),
    operator([94], "one that does not name its host", "ok", {
      authorization: operatorProof({ host: undefined }),
    }),
    operator([94], "with more than anybody knows", "ok", {
      authorization: operatorProof({ more: 1 }),
    }),
    operator([94], "with another token of the same domain", 401, {
      authorization: operatorProof({}, { token: OTHER_TOKEN }),
    }),
    operator([94], "with the secret of the token alone", 401, {
      authorization: operatorProof({}, { token: TOKEN.split(".")[1]! }),
    }),
    operator([94], "with a MAC of other words", 401, {
      authorization: operatorProof({}, { words: "waybill operator 2" }),
    }),
    operator([94], "changed after its MAC was made", 401, {
      authorization: `${operatorProof({ id: id(5) }).split(".")[0]}.${operatorProof().split(".")[1]}`,
    }),
    operator([94], "without a MAC", 401, { authorization: operatorProof().split(".")[0] }),
    operator([94], "with half of its MAC", 401, { authorization: operatorProof().slice(0, -22) }),
    operator([94], "with a MAC in padded base64url", 401, { authorization: `${operatorProof()}=` }),
    operator([94], "a third part behind the MAC", 401, { authorization: `${operatorProof()}.AA` }),
    operator([94], "two spaces behind the scheme", 401, {
      authorization: operatorProof().replace(" ", "  "),
    }),
    operator([94], "a proof of an agent", 401, { authorization: proof() }),
    operator([94], "a payload of another kind", 401, {
      authorization: operatorProof({ kind: "request" }),
    }),
    operator([94], "a payload of another version", 401, {
      authorization: operatorProof({ waybill: 2 }),
    }),
    operator([94], "an operator's proof with an id that is none", 401, {
      authorization: operatorProof({ id: "4" }),
    }),
    operator([94], "a host that is no text", 401, { authorization: operatorProof({ host: 1 }) }),
    operator([94], "a payload with a member twice", 401, {
      authorization: operatorProof({}, { payload: '{"waybill":1,"waybill":1}' }),
    }),
    operator([94], "a payload that is no object", 401, {
      authorization: operatorProof({}, { payload: "null" }),
    }),
    operator([95], "of another custody domain", 401, {
      authorization: operatorProof({ domain: researcher.kid }),
    }),
    operator([95], "an operator's proof for another path", 401, { path: "/v1/dead-letters" }),
    operator([95], "an operator's proof for another method", 401, { method: "POST" }),
    operator([95], "an operator's proof from a minute ago", "ok", {
      authorization: operatorProof({ at: timeAt(-MINUTE) }),
    }),
    operator([95], "an operator's proof from longer ago", 401, {
      authorization: operatorProof({ at: timeAt(-MINUTE - 1) }),
    }),
    operator([95], "an operator's proof from the future", 401, {
      authorization: operatorProof({ at: timeAt(MINUTE + 1) }),
    }),
    operator([95], "an operator's body", "ok", {
      authorization: operatorProof({ method: "POST", body_digest: digest(BODY) }),
      method: "POST",
      body: BODY,
    }),
    operator([95], "an operator's body that was changed", 401, {
      authorization: operatorProof({ method: "POST", body_digest: digest(BODY) }),
      method: "POST",
      body: `${BODY} `,
    }),
    operator([95], "an operator's body that nobody has signed for", 401, {
      authorization: operatorProof({ method: "POST" }),
      method: "POST",
      body: BODY,
    }),
    operator([96], "the token itself, as a bearer", 401, { authorization: `Bearer ${TOKEN}` }),
    operator([96], "the token itself, where the proof belongs", 401, {
      authorization: `Waybill-Operator ${TOKEN}`,
    }),

    enrolment("an invited agent", "ok", enrolmentProof()),
    enrolment("an enrolment with more than anybody knows", "ok", enrolmentProof({ more: 1 })),
    enrolment(
      "another invitation of the same id",
      401,
      enrolmentProof({}, { token: `${INVITATION.slice(0, -2)}AA` }),
    ),
    enrolment(
      "the secret of the invitation alone as the key",
      401,
      enrolmentProof({}, { token: INVITATION.split(".")[2]! }),
    ),
    enrolment("a MAC of other words", 401, enrolmentProof({}, { words: "waybill operator 1" })),
    enrolment("an enrolment of another agent", 401, enrolmentProof({ agent: stranger.agent })),
    enrolment("an enrolment with another key", 401, enrolmentProof({ kid: stranger.kid })),
    enrolment("an enrolment by another manifest", 401, enrolmentProof({ manifest: digest("x") })),
    enrolment("an enrolment in another domain", 401, enrolmentProof({ domain: researcher.kid })),
    enrolment("at a hub of another domain", 401, enrolmentProof(), { domain: researcher.kid }),
    enrolment("an enrolment of another kind", 401, enrolmentProof({ kind: "operator_request" })),
    enrolment("an enrolment of another version", 401, enrolmentProof({ waybill: 2 })),
    enrolment("an enrolment that names no key", 401, enrolmentProof({ kid: undefined })),
    enrolment("an enrolment that is no object", 401, enrolmentProof({}, { payload: "null" })),
    enrolment(
      "an enrolment with a member twice",
      401,
      enrolmentProof({}, { payload: '{"waybill":1,"waybill":1}' }),
    ),
    enrolment("an enrolment without a MAC", 401, enrolmentProof().split(".").slice(0, 2).join(".")),
    enrolment("an enrolment with a fourth part", 401, `${enrolmentProof()}.AA`),
    { ...enrolment("the invitation itself", 401, INVITATION), rules: [113] },
    newcomer("a stranger at an open hub", "ok", "open", [false, false]),
    newcomer("a stranger at a hub with an allow-list", 403, "allow-list", [false, false]),
    newcomer("an invited stranger at a hub with an allow-list", 403, "allow-list", [false, true]),
    newcomer("who is on the allow-list", "ok", "allow-list", [true, false]),
    newcomer("a stranger at a hub that invites", 403, "invitation", [false, false]),
    newcomer("an invited stranger at a hub that invites", "ok", "invitation", [false, true]),
    newcomer("who is allowed at a hub that invites", "ok", "invitation", [true, false]),
    invitation("an invitation for anybody", "ok"),
    invitation("an invitation for this agent", "ok", { agent: researcher.agent }),
    invitation("an invitation for another agent", 403, { agent: stranger.agent }),
    invitation("an invitation that was used", 403, { used_by: stranger.agent }),
    invitation("an invitation that this agent has used", 403, { used_by: researcher.agent }),
    invitation("an invitation in its last moment", "ok", { expires_at: NOW + 1 }),
    invitation("an invitation that has run out", 403, { expires_at: NOW }),
    reservedId("an agent that is called operator", "operator", true),
    reservedId("an agent whose name begins like operator", "operators.2", true),
    reservedId("an agent whose name looks like operator", "0per-at0r", true),
    reservedId("an agent that says operator at the end", "smooth-operator", false),
    reservedId("an agent whose first part is hub", "hub-0123456789ab", true),
    reservedId("an agent whose first part looks like hub", "hu8.main", true),
    reservedId("an agent whose first part begins like hub", "hubert", false),
    reservedId("an agent that is called like the hub", "acme-main", true, ["acme-main"]),
    reservedId("an agent whose name is that of the hub without a hyphen", "acmemain", true, [
      "acme-main",
    ]),
    reservedId("an agent whose name looks like that of the hub", "acrne.ma1n", true, ["acme-main"]),
    reservedId("an agent whose name looks like that of an operator", "a11ce", true, [
      "hq",
      "alice",
    ]),
    reservedId("an agent whose name holds that of an operator", "malice", false, ["hq", "alice"]),
    reservedId("an agent whose name and that of the hub look like a third", "rnodem", true, [
      "moclem",
    ]),
    reservedId("a pair that looks like one letter, with a digit in it", "c1oud", true, ["cloud"]),
    correlated(
      "a job of one handoff, and a stranger",
      [root("1", "editor", "anna"), root("2", "stranger", "bert")],
      ["1"],
    ),
    correlated(
      "a stranger who asks a party of the job",
      [root("1", "editor", "anna"), root("2", "stranger", "editor"), root("3", "stranger", "anna")],
      ["1"],
    ),
    correlated(
      "more from who has handed off, and from who was asked",
      [
        root("1", "editor", "anna"),
        root("2", "editor", "bert"),
        root("3", "bert", "carla"),
        root("4", "carla"),
      ],
      ["1", "2", "3", "4"],
    ),
    correlated(
      "who is asked in the job only later",
      [
        root("1", "editor", "anna"),
        root("2", "bert"),
        root("3", "anna", "bert"),
        root("4", "bert"),
      ],
      ["1", "3", "4"],
    ),
    correlated(
      "a stranger who was first",
      [root("1", "stranger"), root("2", "editor", "anna")],
      ["1"],
    ),

    pushed("a push", "ok", { body_digest: digest(PUSH) }),
    pushed(
      "a push that is to be echoed",
      "ok",
      { body_digest: digest(PUSH_CHALLENGE) },
      { body: PUSH_CHALLENGE },
      editor,
      CHALLENGE_TEXT,
    ),
    pushed(
      "a push that is to be echoed, and somebody else has signed",
      401,
      { body_digest: digest(PUSH_CHALLENGE) },
      { body: PUSH_CHALLENGE },
      stranger,
    ),
    pushed(
      "a push whose challenge is no text",
      400,
      { body_digest: digest(PUSH_CHALLENGE.replace(`"${CHALLENGE_TEXT}"`, "1")) },
      { body: PUSH_CHALLENGE.replace(`"${CHALLENGE_TEXT}"`, "1") },
    ),
    echoed("an inbox that echoes", JSON.stringify({ echo: CHALLENGE_TEXT }), "ok"),
    echoed("an inbox that has nothing to say", "", 401),
    echoed("an inbox that echoes something else", '{"echo":"x"}', 401),
    echoed("a server that sends back what it is sent", PUSH_CHALLENGE, 401),
    echoed("a server that is no inbox", "ok", 400),
    readBy("a delta of the attempt that its sender holds", HELD, 2, "editor"),
    readBy("a delta of an attempt before that", HELD, 1, null),
    readBy("a delta of an attempt that there is not yet", HELD, 3, null),
    readBy("a delta of who holds nothing of the handoff", null, 1, null),
    shownAfter("the first delta that comes", null, [1, 3], true),
    shownAfter("the next delta", LAST, [2, 4], true),
    shownAfter("a delta after some that were lost", LAST, [2, 9], true),
    shownAfter("the first delta of another attempt", LAST, [3, 0], true),
    shownAfter("a delta that was shown", LAST, [2, 3], false),
    shownAfter("a delta that was overtaken", LAST, [2, 2], false),
    shownAfter("a delta of an earlier attempt", LAST, [1, 9], false),
    part("the first one", "bytes 0-3/10", [0], { status: "ok", first: 0, end: 4 }),
    part("the next one", "bytes 4-9/10", [4, 10], { status: "ok", first: 4, end: 10 }),
    part("from the first byte again", "bytes 0-9/11", [4, 10], { status: "ok", first: 0, end: 10 }),
    part("with a gap before it", "bytes 5-9/10", [4, 10], { status: 409, received: 4 }),
    part("that overlaps", "bytes 3-9/10", [4, 10], { status: 409, received: 4 }),
    part("of an upload that was not begun", "bytes 4-9/10", [0], { status: 409, received: 0 }),
    part("of another size", "bytes 4-9/11", [4, 10], { status: 409, received: 4 }),
    part("that ends after the whole", "bytes 0-10/10", [0], { status: 400 }),
    part("that ends before it begins", "bytes 4-3/10", [4, 10], { status: 400 }),
    part("of a size that is not said", "bytes 0-3/*", [0], { status: 400 }),
    part("in another unit", "lines 0-3/10", [0], { status: 400 }),
    part("of a size beyond 2^53 - 1", "bytes 0-3/9007199254740992", [0], { status: 400 }),
    uploaded("the bytes of its name", BLOB, { status: "ok" }),
    uploaded("other bytes", digest("other"), { status: 400 }),
    namedBlob("a blob that its sender may name", 10, 10, { status: "ok" }),
    namedBlob("a blob that its sender may not name", 10, null, { status: 403 }),
    namedBlob("a size that is too large", 11, 10, { status: 400 }),
    namedBlob("a size that is too small", 0, 10, { status: 400 }),
    ranged("the whole", null, { status: "ok" }),
    ranged("from the first byte to the third one", "bytes=0-2", { status: "ok", first: 0, end: 3 }),
    ranged("from the fifth byte on", "bytes=4-", { status: "ok", first: 4, end: 10 }),
    ranged("the last three bytes", "bytes=-3", { status: "ok", first: 7, end: 10 }),
    ranged("more than there is", "bytes=4-99", { status: "ok", first: 4, end: 10 }),
    ranged("behind the end", "bytes=10-", { status: 400 }),
    ranged("several parts", "bytes=0-1,4-5", { status: "ok" }),
    {
      rules: [254],
      title: "a blob of an open handoff",
      input: { operation: "blob_kept", ended_at: null, kept_ms: 1_000 },
      expect: { until: null },
    },
    {
      rules: [254],
      title: "a blob of a handoff that has ended",
      input: { operation: "blob_kept", ended_at: 5, kept_ms: 1_000 },
      expect: { until: 1_005 },
    },
    readBlob("the blob", BLOB, 10, { status: "ok" }),
    readBlob("other bytes of the same number", digest("other"), 10, { status: 422 }),
    readBlob("too few bytes", BLOB, 9, { status: 422 }),
    readBlob("too many bytes", BLOB, 11, { status: 422 }),
    contacted("an inbox that has failed a moment ago", [1, 999], false),
    contacted("an inbox that has failed a while ago", [1, 1_000], true),
    contacted("an inbox that has failed again", [3, 3_999], false),
    contacted("an inbox that has failed again, long ago", [3, 4_000], true),
    contacted("an inbox that has failed very often", [200, 60_000], true),
    contacted("another inbox than the one that has failed", [200, 0], true, `${INBOX}/2`),
    pushed("a push to somebody else", 401, { body_digest: digest(PUSH), to: "other" }),
    pushed("a push of another domain", 401, {
      body_digest: digest(PUSH),
      domain: stranger.kid,
    }),
    pushed("a push whose body nobody has signed for", 401, {}),
    pushed(
      "a push that somebody else than the hub has signed",
      401,
      { body_digest: digest(PUSH) },
      {},
      stranger,
    ),
    pushed(
      "a push of another version",
      400,
      { body_digest: digest(PUSH.replace("1", "2")) },
      { body: PUSH.replace("1", "2") },
    ),
    ...[
      "0.0.0.0",
      "10.0.0.1",
      "100.64.0.1",
      "127.0.0.1",
      "169.254.169.254",
      "172.16.0.1",
      "192.168.0.1",
      "198.18.0.1",
      "224.0.0.1",
      "255.255.255.255",
      "::",
      "::1",
      "::ffff:127.0.0.1",
      "::ffff:7f00:1",
      "64:ff9b::a00:1",
      "2001:db8::1",
      "2002:7f00:1::",
      "fc00::1",
      "fe80::1",
      "127.1",
      "0x7f000001",
      "2130706433",
      "localhost",
    ].map((text) => address(text, true)),
    ...["1.1.1.1", "100.128.0.1", "172.32.0.1", "2606:4700:4700::1111"].map((text) =>
      address(text, false),
    ),
  ],
);
