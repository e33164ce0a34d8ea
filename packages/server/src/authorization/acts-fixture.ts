/// <reference types="node" />
import {
  createHandoff,
  digestOf,
  digestOfJws,
  newId,
  signEnvelope,
  WaybillError,
} from "@waybill/protocol";
import { signCompactBatch } from "@waybill/protocol/hub";
import type { Envelope, HandoffBody, PrivateKey } from "@waybill/protocol";
import { blobPath, blobUploadPath, discardPath, signHello } from "@waybill/protocol/wire";
import { ask, asConsole, asOperator, codeOf, Wire } from "../served-fixture.ts";
import type { Answer, Party } from "../served-fixture.ts";
import { AGENTS, blobArtifact, CREDIT, said } from "./cast-fixture.ts";
import type { AgentRole, Cast, Scene } from "./cast-fixture.ts";
import { PERMISSIONS } from "./permissions-fixture.ts";
import type { Act, EnvelopeAct, FrameAct, RequestAct, Role } from "./permissions-fixture.ts";

/** The ways to submit an envelope to a hub. */
export type Door = "http" | "batch" | "socket" | "process";
export const DOORS: readonly Door[] = ["http", "batch", "socket", "process"];

/** An answer; `status` is Waybill's, 200 for a success. */
export interface Reply {
  readonly status: number;
  readonly text: string;
}

type Speaker = Pick<Party, "id" | "key">;

export function isAgent(role: Role): role is AgentRole {
  return (AGENTS as readonly Role[]).includes(role);
}

/** Performs one action in one role. */
export function perform(
  cast: Cast,
  act: Act,
  role: Role,
  scene: Scene,
  door: Door,
): Promise<Reply> {
  if (Object.hasOwn(ENVELOPES, act)) {
    const speaker = speakerOf(cast, role, rightfulIn(act));
    return bring(cast, role, ENVELOPES[act as EnvelopeAct](cast, speaker, scene), door);
  }
  if (Object.hasOwn(REQUESTS, act)) return REQUESTS[act as RequestAct](cast, role, scene);
  return FRAMES[act as FrameAct](cast, role, scene);
}

/** Whose key it would have to be. */
function rightfulIn(act: Act): "delegator" | "recipient" {
  const answers: Readonly<Partial<Record<Role, unknown>>> =
    PERMISSIONS.Envelopes[act as EnvelopeAct].answers;
  return answers.recipient === undefined ? "delegator" : "recipient";
}

/** A role without an agent's key uses the name of the agent that may. */
function speakerOf(cast: Cast, role: Role, rightful: "delegator" | "recipient"): Speaker {
  if (isAgent(role)) return cast.parties[role];
  const { bystander } = cast.parties;
  if (role === "impostor") return { id: cast.parties[rightful].id, key: bystander.key };
  if (role === "retired") return { id: cast.parties[rightful].id, key: cast.retired[rightful] };
  if (role === "recovery") return { id: cast.parties[rightful].id, key: cast.recovery[rightful] };
  if (role === "stranger") return { id: "stranger", key: cast.unknown };
  return { id: cast.parties[rightful].id, key: cast.unknown };
}

const work = (to: string) => ({ to, body: { capability: "rest" } });

const GROUP_SIZE = 256;
let places = 0;

type Made = (cast: Cast, speaker: Speaker, scene: Scene) => string;

const ENVELOPES: Readonly<Record<EnvelopeAct, Made>> = {
  handOffUnderItsId: (cast, speaker, { handoff }) =>
    handOff(cast, speaker, { ...work("bystander"), handoffId: handoff.envelope.handoff_id }),
  handOffPart: (cast, speaker, { handoff }) =>
    handOff(cast, speaker, { ...work("bystander"), parent: handoff.envelope }),
  handOffAgain: (cast, speaker, { handoff }) =>
    handOff(cast, speaker, { ...work("bystander"), replayOf: handoff.envelope.handoff_id }),
  joinGroup: (cast, speaker, { handoff, groupId: id }) =>
    // The delegator's own members define its group: another size would contradict them.
    handOff(cast, speaker, {
      ...work("bystander"),
      correlationId: handoff.envelope.correlation_id,
      group: {
        id: speaker.id === cast.parties.delegator.id ? newId() : id,
        // The delegator's own members define its group: another size would contradict them.
        index: places++ % GROUP_SIZE,
        size: GROUP_SIZE,
        join: "all",
      },
    }),
  joinCorrelation: (cast, speaker, { handoff }) =>
    handOff(cast, speaker, {
      ...work("bystander"),
      correlationId: handoff.envelope.correlation_id,
    }),
  handOffToSome: (cast, speaker) =>
    handOff(cast, speaker, { to: cast.parties.candidate.id, body: { capability: "for_some" } }),
  handOffWhatIsForSome: (cast, speaker) =>
    handOff(cast, speaker, { to: { capability: "for_some" }, body: { capability: "for_some" } }),
  handOffBlob: (cast, speaker, { blob }) =>
    handOff(cast, speaker, {
      to: "bystander",
      body: { capability: "rest", artifacts: [blobArtifact(blob)] },
    }),
  cancel: (cast, speaker, { handoff }) =>
    said(speaker, handoff, { kind: "cancel", to: cast.hub.id, body: {} }),
  answer: (cast, speaker, { handoff, question }) =>
    said(speaker, handoff, {
      kind: "answer",
      to: cast.parties.recipient.id,
      re: question,
      body: { question_id: "q", answer: "yes" },
    }),
  acknowledge: (cast, speaker, { handoff, outcome }) =>
    said(speaker, handoff, {
      kind: "receipt",
      to: cast.hub.id,
      re: outcome,
      body: { status: 200 },
    }),
  accept: ofAttempt({ kind: "receipt", body: { status: 101 } }),
  reject: ofAttempt({ kind: "receipt", body: { status: 422 } }),
  release: ofAttempt({ kind: "receipt", body: { status: 300, retry_after_ms: 1 } }),
  progress: ofAttempt({ kind: "progress", body: {} }),
  question: ofAttempt({ kind: "question", body: { questions: [{ id: "q2" }] } }),
  pause: ofAttempt({ kind: "question", body: { questions: [{ id: "q3" }], state: "s" } }),
  result: ofAttempt({ kind: "result", body: { status: 200, output: "mine" } }),
  earlierResult: (cast, speaker, scene) =>
    ofAttempt({ kind: "result", body: { status: 200, output: "late" } })(cast, speaker, {
      ...scene,
      attempt: scene.closedAttempt,
    }),
  custodyReceipt: (_, speaker, { handoff }) =>
    said(speaker, handoff, {
      kind: "receipt",
      re: digestOfJws(handoff.text),
      body: { status: 100 },
    }),
  notice: (_, speaker, { handoff }) =>
    said(speaker, handoff, { kind: "notice", body: { status: 504, reason: "it is over" } }),
};

function handOff(
  { hub: { domain } }: Cast,
  { id: from, key }: Speaker,
  input: Partial<Parameters<typeof createHandoff>[0]> & { body: HandoffBody },
): string {
  return signEnvelope(createHandoff({ from, domain, timeoutMs: 60_000, ...input }), key);
}

function ofAttempt(given: object): Made {
  return (_, speaker, { handoff, attempt }) =>
    said(speaker, handoff, { re: digestOfJws(handoff.text), attempt, ...given });
}

/** Submits an envelope by one of the ways. A role without a socket has it submitted by a role with one. */
async function bring(cast: Cast, role: Role, text: string, door: Door): Promise<Reply> {
  const { world } = cast;
  if (door === "process") {
    return world.hub.submit(text).then(
      (receipt) => ({ status: 200, text: receipt }),
      (error: unknown) => {
        const { status, message } = WaybillError.from(error);
        return { status, text: message };
      },
    );
  }
  if (door === "socket") {
    const carrier = isAgent(role) ? role : "bystander";
    const answer = await (await cast.wire(carrier)).call("submit", { envelope: text });
    return replyOf(answer);
  }
  const envelope = door === "batch" ? batched(text, keyOf(cast, text)) : text;
  const path = "/v1/envelopes";
  const body = JSON.stringify({ envelope });
  // An operator's token must not replace an agent's signature. Roles without a token send no proof.
  const headers = role === "operator" ? asOperator(world.served, path, { body }) : {};
  return httpReply(await ask(world.url + path, { body, headers: { ...headers } }));
}

const keys = new WeakMap<object, Map<string, PrivateKey>>();

function keyOf(cast: Cast, text: string): PrivateKey {
  let known = keys.get(cast);
  if (known === undefined) {
    const all = [...Object.values(cast.parties).map(({ key }) => key), cast.unknown];
    const idle = [...Object.values(cast.retired), ...Object.values(cast.recovery)];
    known = new Map([...all, ...idle].map((key) => [key.kid, key]));
    keys.set(cast, known);
  }
  const [header = ""] = text.split(".");
  const { kid } = JSON.parse(Buffer.from(header, "base64url").toString()) as { kid: string };
  return known.get(kid)!;
}

/** The same payload in a batch with another. */
function batched(text: string, key: PrivateKey): string {
  const payload = Buffer.from(text.split(".")[1]!, "base64url").toString();
  const other = { ...(JSON.parse(payload) as Envelope), id: newId() };
  return signCompactBatch([payload, JSON.stringify(other)], key)[0]!;
}

function replyOf({ problem, ...value }: Record<string, unknown>): Reply {
  if (problem === undefined) return { status: 200, text: JSON.stringify(value) };
  const { waybill_status: status, detail } = problem as { waybill_status: number; detail: string };
  return { status, text: detail };
}

function httpReply({ status, json, text }: Answer): Reply {
  return {
    status: json.waybill_status ?? (status < 300 ? 200 : status),
    text: json.detail ?? text,
  };
}

interface Asking {
  readonly method?: string;
  readonly body?: object;
  /** A body that no proof covers. */
  readonly bytes?: string;
}

/** One request, with the proof of the role. */
async function asks(cast: Cast, role: Role, path: string, { method, body, bytes }: Asking = {}) {
  const { world } = cast;
  const proven = body === undefined ? undefined : JSON.stringify(body);
  const text = proven ?? bytes;
  const verb = method ?? (text === undefined ? "GET" : "POST");
  const authorization = authorizationOf(cast, role, path, verb, proven);
  const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
  const answer = await ask(world.url + path, {
    method: verb,
    headers,
    ...(text !== undefined && { body: text }),
  });
  return httpReply(answer);
}

function authorizationOf(
  cast: Cast,
  role: Role,
  path: string,
  method: string,
  body: string | undefined,
): string | undefined {
  const { parties, world } = cast;
  if (isAgent(role)) return parties[role].proof(path, method, body);
  const over = { method, ...(body !== undefined && { body }) };
  switch (role) {
    case "nobody":
      return undefined;
    case "impostor":
      return parties.delegator.proof(path, method, body, { key: parties.bystander.key });
    case "retired":
      return parties.delegator.proof(path, method, body, { key: cast.retired.delegator });
    case "recovery":
      return parties.delegator.proof(path, method, body, { key: cast.recovery.delegator });
    case "stranger":
      return parties.delegator.proof(path, method, body, { from: "stranger", key: cast.unknown });
    case "operator":
      return asOperator(world.served, path, over).authorization;
    case "reader":
      return asConsole(world.served, cast.readerSession, path, over).authorization;
    case "otherOperator":
      return asOperator(world.served, path, { ...over, token: cast.otherToken }).authorization;
    case "scraper":
      return `Bearer ${cast.metricsToken}`;
  }
}

type Asked = (cast: Cast, role: Role, scene: Scene) => Promise<Reply>;

const get =
  (path: string | ((scene: Scene, cast: Cast) => string)): Asked =>
  (cast, role, scene) =>
    asks(cast, role, typeof path === "string" ? path : path(scene, cast));

const idOf = ({ handoff }: Scene): string => handoff.envelope.handoff_id;

/** The first line of an answer that may be endless. */
async function firstLine(cast: Cast, role: Role, path: string): Promise<Reply> {
  const authorization = authorizationOf(cast, role, path, "GET", undefined);
  const ending = new AbortController();
  const response = await fetch(cast.world.url + path, {
    signal: ending.signal,
    ...(authorization !== undefined && { headers: { authorization } }),
  });
  if (!response.ok) {
    const problem = (await response.json()) as { waybill_status: number; detail: string };
    return { status: problem.waybill_status, text: problem.detail };
  }
  await response.body!.getReader().read();
  ending.abort();
  return { status: 200, text: "" };
}

const REQUESTS: Readonly<Record<RequestAct, Asked>> = {
  getHandoff: get((scene) => `/v1/handoffs/${idOf(scene)}`),
  getHistory: get((scene) => `/v1/handoffs/${idOf(scene)}/history`),
  // One at a time, so that there is always more.
  async listHandoffs(cast, role, { handoff }) {
    const path = `/v1/handoffs?correlation_id=${handoff.envelope.correlation_id}&limit=1`;
    const all: unknown[] = [];
    for (let after = ""; ;) {
      const reply = await asks(cast, role, path + after);
      if (reply.status !== 200) return reply;
      const { handoffs, next } = JSON.parse(reply.text) as { handoffs: unknown[]; next?: string };
      all.push(...handoffs);
      if (next === undefined) return { status: 200, text: JSON.stringify({ handoffs: all }) };
      after = `&after=${next}`;
      // The cursor is only given to viewers who see what is there.
      if (handoffs.length === 0) return { status: 200, text: reply.text };
    }
  },
  putBlob: (cast, role) => {
    const text = `a film of the ${role}`;
    return asks(cast, role, blobPath(digestOf(text)), { method: "PUT", bytes: text });
  },
  getBlobUpload: get(({ blob }) => blobUploadPath(blob.digest)),
  getBlob: get(({ blob }) => blobPath(blob.digest)),
  headBlob: (cast, role, { blob }) => asks(cast, role, blobPath(blob.digest), { method: "HEAD" }),
  listDeadLetters: get((scene) => `/v1/dead-letters?limit=1&after=${before(idOf(scene))}`),
  getDeadLetter: get((scene) => `/v1/dead-letters/${idOf(scene)}`),
  replayDeadLetter(cast, role, scene) {
    // An operator has it signed by an agent that may.
    const signer = role === "operator" ? "operatorsAgent" : role;
    const speaker = speakerOf(cast, signer, "delegator");
    const envelope = ENVELOPES.handOffAgain(cast, speaker, scene);
    return asks(cast, role, `/v1/dead-letters/${idOf(scene)}/replay`, { body: { envelope } });
  },
  discardDeadLetter: (cast, role, scene) =>
    asks(cast, role, discardPath(idOf(scene)), { body: { reason: "nobody needs it" } }),
  getConsole: get("/console"),
  getConsoleFile: get("/console/index.html"),
  getConsoleHost: get("/v1/console/host"),
  createConsoleLink: (cast, role) =>
    asks(cast, role, "/v1/console/links", { body: { role: "reader" } }),
  openConsoleSession: (cast, role) =>
    asks(cast, role, "/v1/console/sessions", { body: { code: codeOf(cast.world.served) } }),
  exportLedger: get("/v1/ledger?after=1000000000"),
  getCheckpoint: get("/v1/ledger/checkpoint"),
  watchLedger: (cast, role) => firstLine(cast, role, "/v1/watch"),
  submitEnvelope: (cast, role, { handoff }) =>
    asks(cast, role, "/v1/envelopes", { body: { envelope: handoff.text } }),
  invite: (cast, role) => asks(cast, role, "/v1/invitations", { body: { agent: "newcomer" } }),
  allow: (cast, role) => asks(cast, role, "/v1/allowed", { body: { who: "newcomer" } }),
  listInvitations: get(() => "/v1/invitations?limit=1"),
  async revokeInvitation(cast, role) {
    const { id } = await cast.invitation(role === "operator");
    return asks(cast, role, `/v1/invitations/${id}/revoke`, { method: "POST" });
  },
  pinKey: (cast, role) => {
    const { kid } = cast.unknown;
    return asks(cast, role, `/v1/agents/${cast.idle}/pin`, { body: { kid } });
  },
  listGroups: get(() => "/v1/groups"),
  getGroup: get(() => "/v1/groups/insiders"),
  changeGroup: (cast, role) =>
    asks(cast, role, "/v1/groups/others/members", { body: { add: ["newcomer"] } }),
  setQuota: (cast, role) =>
    asks(cast, role, "/v1/groups/others/quota", { body: { per_minute: 100 } }),
  async removeGroup(cast, role) {
    // Made just now, so that there is one to revoke.
    if (role === "operator") await cast.hub.operator.changeGroup("gone", { add: ["newcomer"] });
    return asks(cast, role, "/v1/groups/gone/remove", { method: "POST" });
  },
  retireAgent: (cast, role) =>
    asks(cast, role, `/v1/agents/${cast.idle}/retire`, { method: "POST" }),
  async publishManifest(cast, role) {
    const { id } = cast.parties.delegator;
    const { key } = speakerOf(cast, role, "delegator");
    const manifest = await cast.nextManifest(id, key);
    return asks(cast, role, `/v1/agents/${id}`, { method: "PUT", body: { manifest } });
  },
  async pollInbox(cast, role) {
    const { instance } = isAgent(role) ? cast.parties[role] : cast.parties.recipient;
    const path = `/v1/inbox?instance=${instance}&wait_seconds=0&credit=0`;
    const reply = await asks(cast, role, path);
    if (isAgent(role)) await cast.movedOn(role);
    return reply;
  },
  async reportToInbox(cast, role, scene) {
    const { instance } = isAgent(role) ? cast.parties[role] : cast.parties.recipient;
    const taken = [{ handoff_id: idOf(scene), attempt: scene.attempt }];
    const reply = await asks(cast, role, "/v1/inbox", { body: { instance, taken, credit: 0 } });
    if (isAgent(role)) await cast.movedOn(role);
    return reply;
  },
  listAgents: get("/v1/agents?limit=1"),
  getAgent: get((_, { parties }) => `/v1/agents/${parties.recipient.id}`),
  findCapabilities: get("/v1/capabilities?capability=work"),
  findForInput: (cast, role) =>
    asks(cast, role, "/v1/capabilities/find", { body: { capability: "work", input: {} } }),
  getManifests: get((_, { parties }) => `/.well-known/waybill/agents/${parties.recipient.id}`),
  getMetrics: get("/metrics"),
  getFront: get("/"),
  getHub: get("/.well-known/waybill"),
  getSkill: get("/skill.md"),
  getHealth: get("/healthz"),
  getReadiness: get("/readyz"),
  getDescription: get("/openapi.json"),
};

/** The id directly before another one. */
function before(id: string): string {
  const number = BigInt(`0x${id.replaceAll("-", "")}`) - 1n;
  const hex = number.toString(16).padStart(32, "0");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/** A role without an agent's key tries it on a socket without a hello. */
async function onSocket(
  cast: Cast,
  role: Role,
  tries: (wire: Wire) => Promise<Reply>,
): Promise<Reply> {
  if (isAgent(role)) return tries(await cast.wire(role));
  const wire = await Wire.open(cast.world.url);
  const { nonce } = await wire.next("challenge");
  const { id, key } = speakerOf(cast, role, "recipient");
  wire.say({ type: "hello", proof: helloOf(cast, id, key, nonce), credit: 0 });
  const { problem } = await wire.next("closed");
  await wire.closed;
  return { status: problem.waybill_status, text: problem.detail };
}

function helloOf({ hub }: Cast, from: string, key: PrivateKey, nonce: string): string {
  const { id: to, domain } = hub;
  return signHello(
    { from, to, domain, instance: newId(), id: newId(), at: Date.now(), nonce },
    key,
  );
}

const say =
  (frame: (scene: Scene) => Parameters<Wire["say"]>[0]): Asked =>
  (cast, role, scene) =>
    onSocket(cast, role, async (wire) => {
      wire.say(frame(scene));
      await cast.settled(role as AgentRole);
      await cast.turnOf(scene.handoff);
      return { status: 200, text: "" };
    });

const FRAMES: Readonly<Record<FrameAct, Asked>> = {
  async helloAsRecipient(cast, role) {
    const wire = await Wire.open(cast.world.url);
    const { nonce } = await wire.next("challenge");
    const { recipient } = cast.parties;
    const { key } = speakerOf(cast, role, "recipient");
    // If it is the recipient itself, it continues on this connection.
    const proof =
      role === "recipient" ? recipient.hello(nonce) : helloOf(cast, recipient.id, key, nonce);
    wire.say({ type: "hello", proof, credit: 0 });
    if (role === "recipient") {
      await wire.next("attached");
      await cast.movedOn("recipient");
      await wire.close();
      return { status: 200, text: "" };
    }
    const { problem } = await wire.next("closed");
    await wire.closed;
    return { status: problem.waybill_status, text: problem.detail };
  },
  async publishCall(cast, role) {
    const { id } = cast.parties.delegator;
    const { key } = speakerOf(cast, role, "delegator");
    const manifest = await cast.nextManifest(id, key);
    return onSocket(cast, role, async (wire) => replyOf(await wire.call("publish", { manifest })));
  },
  manifestsCall: (cast, role) =>
    onSocket(cast, role, async (wire) =>
      replyOf(await wire.call("manifests", { agent: cast.parties.recipient.id })),
    ),
  findCall: (cast, role) =>
    onSocket(cast, role, async (wire) => replyOf(await wire.call("find", { capability: "work" }))),
  handoffCall: (cast, role, scene) =>
    onSocket(cast, role, async (wire) => {
      const answer = await wire.call("handoff", { id: idOf(scene) });
      return answer["handoff"] === null ? { status: 404, text: "" } : replyOf(answer);
    }),
  takenFrame: say((scene) => ({
    type: "taken",
    handoff_id: idOf(scene),
    attempt: scene.attempt,
  })),
  heartbeatFrame: say((scene) => ({
    type: "heartbeat",
    handoff_id: idOf(scene),
    attempt: scene.attempt,
  })),
  deltaFrame: say((scene) => ({
    type: "delta",
    handoff_id: idOf(scene),
    attempt: scene.attempt,
    number: 0,
    text: "A piece.",
  })),
  seenFrame: say((scene) => ({ type: "seen", id: scene.offerId })),
  creditFrame: (cast, role, scene) =>
    // The current value: other actions in these scenes depend on it.
    say(() => ({ type: "credit", credit: role === "child" ? CREDIT : 0 }))(cast, role, scene),
  pingFrame: (cast, role) =>
    onSocket(cast, role, async (wire) => {
      wire.say({ type: "ping" });
      await wire.next("pong");
      return { status: 200, text: "" };
    }),
  pongFrame: say(() => ({ type: "pong" })),
};
