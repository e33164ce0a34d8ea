export type Role =
  | "delegator"
  | "recipient"
  | "earlier"
  | "candidate"
  | "peer"
  | "parent"
  | "child"
  | "bystander"
  | "operatorsAgent"
  | "impostor"
  | "retired"
  | "recovery"
  | "stranger"
  | "nobody"
  | "operator"
  | "otherOperator"
  | "reader"
  | "scraper";

/** Every role that may try something with one handoff. */
export const ROLES: Readonly<Record<Role, string>> = {
  delegator: "the agent that handed the work off",
  recipient: "the agent that holds the current attempt",
  earlier: "an agent whose attempt is closed",
  candidate: "an agent that offers the capability and was not asked",
  peer: "an agent with a handoff of its own under the same correlation id",
  parent: "the delegator of the parent handoff",
  child: "the recipient of a child handoff",
  bystander: "an enrolled agent that is not involved",
  operatorsAgent: "an agent in the group `operators`",
  impostor: "an enrolled agent that signs in the name of the right party",
  retired: "the holder of a key that the right party has rotated away",
  recovery: "the holder of the right party's recovery key",
  stranger: "an agent whose key is not enrolled here",
  nobody: "a client that signs nothing",
  operator: "a client with the operator token of this hub",
  otherOperator: "a client with the operator token of another hub of the same id",
  reader: "somebody who is signed in to the console and may only read",
  scraper: "a client with the metrics token of this hub",
};

/** The stage of a handoff. */
export type Stage = "offered" | "accepted" | "asked" | "ended" | "dead";
export const STAGES: readonly Stage[] = ["offered", "accepted", "asked", "ended", "dead"];

/**
 * What somebody is answered.
 *
 * - `yes`: allowed.
 * - `own`: allowed, but it shows or changes nothing of this handoff.
 * - `late`: 410. It is on record, and changes nothing.
 * - `taken`: 403. The id belongs to another handoff.
 * - 400, 403, 404: refused, in the words that answer the same request about what does not exist.
 * - 401: refused for its proof, whatever it asks for.
 */
export type Answered = "yes" | "own" | "late" | "taken" | 400 | 401 | 403 | 404;

/** Who may perform one action. */
export interface Permission {
  readonly what: string;
  /** The stages in which a role may; refusals are the same in all of them. */
  readonly when: readonly Stage[];
  readonly answers: Readonly<Partial<Record<Role, Answered>>>;
  /** The answer to all other enrolled agents. */
  readonly others: Answered;
  /** The answer to clients that sign nothing, if it is not 401. */
  readonly unsigned?: Answered;
}

export type EnvelopeAct =
  | "handOffUnderItsId"
  | "handOffPart"
  | "handOffAgain"
  | "joinGroup"
  | "joinCorrelation"
  | "handOffToSome"
  | "handOffWhatIsForSome"
  | "handOffBlob"
  | "cancel"
  | "answer"
  | "acknowledge"
  | "accept"
  | "reject"
  | "release"
  | "progress"
  | "question"
  | "pause"
  | "result"
  | "earlierResult"
  | "custodyReceipt"
  | "notice";

export type RequestAct =
  | "getHandoff"
  | "getHistory"
  | "listHandoffs"
  | "putBlob"
  | "getBlobUpload"
  | "getBlob"
  | "headBlob"
  | "listDeadLetters"
  | "getDeadLetter"
  | "replayDeadLetter"
  | "discardDeadLetter"
  | "exportLedger"
  | "getCheckpoint"
  | "watchLedger"
  | "submitEnvelope"
  | "invite"
  | "allow"
  | "listInvitations"
  | "revokeInvitation"
  | "pinKey"
  | "listGroups"
  | "getGroup"
  | "changeGroup"
  | "setQuota"
  | "removeGroup"
  | "retireAgent"
  | "publishManifest"
  | "pollInbox"
  | "reportToInbox"
  | "listAgents"
  | "getAgent"
  | "findCapabilities"
  | "findForInput"
  | "getManifests"
  | "getMetrics"
  | "getFront"
  | "getHub"
  | "getSkill"
  | "getHealth"
  | "getReadiness"
  | "getDescription"
  | "getConsole"
  | "getConsoleFile"
  | "getConsoleHost"
  | "createConsoleLink"
  | "openConsoleSession";

export type FrameAct =
  | "helloAsRecipient"
  | "publishCall"
  | "manifestsCall"
  | "findCall"
  | "handoffCall"
  | "takenFrame"
  | "heartbeatFrame"
  | "deltaFrame"
  | "seenFrame"
  | "creditFrame"
  | "pingFrame"
  | "pongFrame";

export type Act = EnvelopeAct | RequestAct | FrameAct;

const ALL = STAGES;
const LIVE: readonly Stage[] = ["accepted", "asked"];

/** Envelopes of an agent: anybody may submit them, so only the signature counts. */
const ENVELOPES: Readonly<Record<EnvelopeAct, Permission>> = {
  handOffUnderItsId: {
    what: "submit another handoff under its id",
    when: ALL,
    // An id can't be used twice: the answer reveals only that it is in use.
    answers: { delegator: "taken" },
    others: "taken",
  },
  handOffPart: {
    what: "submit a child handoff (`parent_id`)",
    when: LIVE,
    answers: { recipient: "yes", earlier: "late" },
    others: 403,
  },
  handOffAgain: {
    what: "submit a replay (`replay_of`)",
    when: ["dead"],
    answers: { delegator: "yes", operatorsAgent: "yes" },
    others: 403,
  },
  joinGroup: {
    what: "submit a handoff with the id of its group",
    when: ALL,
    answers: {},
    others: "own",
  },
  joinCorrelation: {
    what: "submit a handoff under its correlation id",
    when: ALL,
    answers: {},
    others: "own",
  },
  handOffToSome: {
    what: "hand off to an agent that takes work only from its delegator and the peer's group",
    when: ALL,
    answers: { delegator: "own", peer: "own" },
    others: 403,
  },
  handOffWhatIsForSome: {
    what: "hand off to a capability that is restricted to its delegator and the peer's group",
    when: ALL,
    answers: { delegator: "own", peer: "own" },
    others: 404,
  },
  handOffBlob: {
    what: "name one of its blobs in another handoff",
    when: ALL,
    answers: { delegator: "own", recipient: "own", earlier: "own" },
    others: 403,
  },
  cancel: {
    what: "cancel",
    when: ["offered", "accepted", "asked"],
    answers: { delegator: "yes" },
    others: 403,
  },
  answer: {
    what: "answer its question",
    when: ["asked"],
    answers: { delegator: "yes" },
    others: 403,
  },
  acknowledge: {
    what: "acknowledge its result",
    when: ["ended"],
    answers: { delegator: "yes" },
    others: 403,
  },
  accept: {
    what: "accept",
    when: ["offered"],
    answers: { recipient: "yes" },
    others: 403,
  },
  reject: {
    what: "reject",
    when: ["offered"],
    answers: { recipient: "yes" },
    others: 403,
  },
  release: {
    what: "release",
    when: ["offered", "accepted", "asked"],
    answers: { recipient: "yes" },
    others: 403,
  },
  progress: {
    what: "report progress",
    when: ["accepted"],
    answers: { recipient: "yes" },
    others: 403,
  },
  question: {
    what: "ask a question",
    when: ["accepted"],
    answers: { recipient: "yes" },
    others: 403,
  },
  pause: {
    what: "pause",
    when: ["accepted"],
    answers: { recipient: "yes" },
    others: 403,
  },
  result: {
    what: "send a result",
    when: LIVE,
    answers: { recipient: "yes" },
    others: 403,
  },
  earlierResult: {
    what: "send a result of the closed attempt",
    when: ALL,
    answers: { earlier: "late" },
    others: 403,
  },
  custodyReceipt: {
    what: "send a custody receipt, as if it were the hub",
    when: ALL,
    answers: {},
    others: 403,
  },
  notice: {
    what: "send a notice, as if it were the hub",
    when: ALL,
    answers: {},
    others: 403,
  },
};

/** Requests over HTTP, by the ids of their operations in `/openapi.json`. */
const REQUESTS: Readonly<Record<RequestAct, Permission>> = {
  getHandoff: {
    what: "read it",
    when: ALL,
    answers: { delegator: "yes", recipient: "yes", earlier: "yes", operator: "yes" },
    others: 404,
  },
  getHistory: {
    what: "read its history",
    when: ALL,
    answers: { delegator: "yes", recipient: "yes", earlier: "yes", operator: "yes" },
    others: 404,
  },
  listHandoffs: {
    what: "list the handoffs under its correlation id",
    when: ALL,
    answers: { delegator: "yes", recipient: "yes", earlier: "yes", operator: "yes" },
    others: "own",
  },
  putBlob: {
    what: "upload a blob",
    when: ALL,
    answers: { operator: 403 },
    others: "own",
  },
  getBlobUpload: {
    what: "ask how much of one of its blobs they have uploaded",
    when: ALL,
    answers: { operator: 403 },
    others: "own",
  },
  getBlob: {
    what: "read a blob that it names",
    when: ALL,
    answers: { delegator: "yes", recipient: "yes", earlier: "yes", operator: "yes" },
    others: 403,
  },
  headBlob: {
    what: "ask for the size of a blob that it names",
    when: ALL,
    answers: { delegator: "yes", recipient: "yes", earlier: "yes", operator: "yes" },
    others: 403,
  },
  listDeadLetters: {
    what: "list dead letters",
    when: ["dead"],
    answers: { delegator: "yes", operator: "yes" },
    others: "own",
  },
  getDeadLetter: {
    what: "read the dead letter",
    when: ["dead"],
    answers: { delegator: "yes", operator: "yes" },
    others: 404,
  },
  replayDeadLetter: {
    what: "replay the dead letter",
    when: ["dead"],
    answers: { delegator: "yes", operatorsAgent: "yes", operator: "yes" },
    others: 404,
  },
  discardDeadLetter: {
    what: "discard the dead letter",
    when: ["dead"],
    answers: { operatorsAgent: "yes", operator: "yes" },
    others: 403,
  },
  exportLedger: {
    what: "export the ledger",
    when: ALL,
    answers: { operator: "yes" },
    others: 403,
  },
  getCheckpoint: {
    what: "request a signed checkpoint",
    when: ALL,
    answers: { operator: "yes" },
    others: 403,
  },
  watchLedger: {
    what: "watch the ledger",
    when: ALL,
    answers: { operator: "yes" },
    others: 403,
  },
  submitEnvelope: {
    what: "submit an envelope that a party has signed",
    when: ALL,
    answers: { operator: "yes" },
    others: "yes",
    unsigned: "yes",
  },
  invite: {
    what: "make an invitation",
    when: ALL,
    answers: { operator: "yes" },
    others: 403,
  },
  allow: {
    what: "allow an agent to enrol, by its name",
    when: ALL,
    answers: { operator: "yes" },
    others: 403,
  },
  listInvitations: {
    what: "list the invitations",
    when: ALL,
    answers: { operator: "yes" },
    others: 403,
  },
  revokeInvitation: {
    what: "revoke an invitation",
    when: ALL,
    answers: { operator: "yes" },
    others: 403,
  },
  pinKey: {
    what: "pin another key to an agent",
    when: ALL,
    answers: { operator: "yes" },
    others: 403,
  },
  listGroups: {
    what: "list the groups of agents",
    when: ALL,
    answers: { operator: "yes" },
    others: 403,
  },
  getGroup: {
    what: "read the members of a group",
    when: ALL,
    answers: { operator: "yes" },
    others: 403,
  },
  changeGroup: {
    what: "add an agent to a group",
    when: ALL,
    answers: { operator: "yes" },
    others: 403,
  },
  setQuota: {
    what: "set the quota of a group",
    when: ALL,
    answers: { operator: "yes" },
    others: 403,
  },
  removeGroup: {
    what: "remove a group",
    when: ALL,
    answers: { operator: "yes" },
    others: 403,
  },
  retireAgent: {
    what: "retire an agent",
    when: ALL,
    answers: { operator: "yes" },
    others: 403,
  },
  publishManifest: {
    what: "publish the next manifest of its delegator",
    when: ALL,
    answers: { delegator: "yes", reader: 403 },
    others: 401,
  },
  pollInbox: {
    what: "take deliveries",
    when: ["offered"],
    answers: { operator: 403 },
    others: "own",
  },
  reportToInbox: {
    what: "report through the inbox that the attempt is taken",
    when: ["offered"],
    answers: { recipient: "yes", operator: 403 },
    others: "own",
  },
  listAgents: {
    what: "list the agents",
    when: ALL,
    answers: { operator: "yes" },
    others: "yes",
  },
  getAgent: {
    what: "read the entry of its recipient",
    when: ALL,
    answers: { operator: "yes" },
    others: "yes",
  },
  findCapabilities: {
    what: "find agents that offer its capability",
    when: ALL,
    answers: { operator: "yes" },
    others: "yes",
  },
  findForInput: {
    what: "find agents that accept its input",
    when: ALL,
    answers: { operator: "yes" },
    others: "yes",
  },
  getManifests: {
    what: "read the manifests of its recipient",
    when: ALL,
    answers: { operator: "yes" },
    others: "yes",
    unsigned: "yes",
  },
  getMetrics: {
    what: "read the metrics of a hub that others can reach",
    when: ALL,
    answers: { operator: "yes", scraper: "yes" },
    others: 403,
  },
  getFront: open("open the address of the hub"),
  getHub: open("read the description of the hub"),
  getSkill: open("read how to join"),
  getHealth: open("ask whether the hub is alive"),
  getReadiness: open("ask whether the hub takes work"),
  getDescription: open("read the description of the API"),
  getConsole: open("open the console"),
  getConsoleFile: open("load a file of the console"),
  getConsoleHost: open("ask which host the console names"),
  createConsoleLink: {
    what: "make a link that signs in to the console",
    when: ALL,
    answers: { operator: "yes" },
    others: 403,
  },
  openConsoleSession: {
    ...open("open the session of a link"),
    answers: { operator: "yes", reader: 403 },
  },
};

/** Calls and frames on an attached WebSocket; a client without an agent's key gets no further. */
const FRAMES: Readonly<Record<FrameAct, Permission>> = {
  helloAsRecipient: {
    what: "attach as its recipient",
    when: ["offered"],
    answers: { recipient: "yes" },
    others: 401,
  },
  publishCall: {
    what: "call `publish` with the next manifest of its delegator",
    when: ALL,
    answers: { delegator: "yes" },
    others: 401,
  },
  manifestsCall: {
    what: "call `manifests` of its recipient",
    when: ALL,
    answers: {},
    others: "yes",
  },
  findCall: {
    what: "call `find` of its capability",
    when: ALL,
    answers: {},
    others: "yes",
  },
  handoffCall: {
    what: "call `handoff`",
    when: ALL,
    answers: { delegator: "yes", recipient: "yes", earlier: "yes" },
    others: 404,
  },
  takenFrame: {
    what: "send `taken`",
    when: ["offered"],
    answers: { recipient: "yes" },
    others: "own",
  },
  heartbeatFrame: {
    what: "send `heartbeat`",
    when: ["accepted"],
    answers: { recipient: "yes" },
    others: "own",
  },
  deltaFrame: {
    what: "send `delta`",
    when: ["offered", "accepted"],
    answers: { recipient: "yes" },
    others: "own",
  },
  seenFrame: {
    what: "send `seen` of its offer",
    when: ["offered"],
    answers: { recipient: "yes" },
    others: "own",
  },
  creditFrame: { what: "send `credit`", when: ALL, answers: {}, others: "own" },
  pingFrame: { what: "send `ping`", when: ALL, answers: {}, others: "own" },
  pongFrame: { what: "send `pong`", when: ALL, answers: {}, others: "own" },
};

/** The rows by which an agent's frames and calls are tested; envelopes are also sent by `submit`. */
export const ROWS_OF_FRAMES: Readonly<Record<string, FrameAct | "Envelopes">> = {
  hello: "helloAsRecipient",
  submit: "Envelopes",
  publish: "publishCall",
  manifests: "manifestsCall",
  find: "findCall",
  handoff: "handoffCall",
  taken: "takenFrame",
  heartbeat: "heartbeatFrame",
  delta: "deltaFrame",
  seen: "seenFrame",
  credit: "creditFrame",
  ping: "pingFrame",
  pong: "pongFrame",
};

/** Who may do what: the complete table. The hub is tested against each cell. */
export const PERMISSIONS: Readonly<{
  Envelopes: Readonly<Record<EnvelopeAct, Permission>>;
  Requests: Readonly<Record<RequestAct, Permission>>;
  Frames: Readonly<Record<FrameAct, Permission>>;
}> = { Envelopes: ENVELOPES, Requests: REQUESTS, Frames: FRAMES };

function open(what: string): Permission {
  return { what, when: ALL, answers: { operator: "yes" }, others: "yes", unsigned: "yes" };
}

const WITHOUT_KEY: ReadonlySet<Role> = new Set([
  "impostor",
  "retired",
  "recovery",
  "stranger",
  "nobody",
  "operator",
  "otherOperator",
  "reader",
  "scraper",
]);

/** What an operator does and a reader may not, because it changes something. */
const CHANGES: ReadonlySet<Permission> = new Set(
  (
    [
      "replayDeadLetter",
      "discardDeadLetter",
      "submitEnvelope",
      "invite",
      "allow",
      "revokeInvitation",
      "pinKey",
      "changeGroup",
      "setQuota",
      "removeGroup",
      "retireAgent",
      "createConsoleLink",
    ] as const
  ).map((act) => REQUESTS[act]),
);

/** What the table says of one cell. */
export function answeredTo(role: Role, permission: Permission): Answered {
  const { answers, others, unsigned } = permission;
  const own = answers[role];
  if (own !== undefined) return own;
  if (role === "reader") return readerAnswered(permission);
  if (role === "nobody") return unsigned ?? 401;
  return WITHOUT_KEY.has(role) ? 401 : others;
}

/** A reader is an operator who can change nothing. */
function readerAnswered(permission: Permission): Answered {
  if (CHANGES.has(permission)) return 403;
  return permission.answers.operator ?? 401;
}

export interface Cell {
  readonly act: Act;
  readonly role: Role;
  readonly answered: Answered;
  readonly when: readonly Stage[];
}

export function cells(): readonly Cell[] {
  const rows = Object.values(PERMISSIONS).flatMap((group) => Object.entries(group)) as [
    Act,
    Permission,
  ][];
  return rows.flatMap(([act, permission]) =>
    (Object.keys(ROLES) as Role[]).map((role) => ({
      act,
      role,
      answered: answeredTo(role, permission),
      when: permission.when,
    })),
  );
}
