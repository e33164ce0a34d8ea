import { PRINCIPAL } from "../principal.ts";
import { INVITATION_ID } from "./invitation.ts";
import * as z from "zod";
import { lazy } from "../lazy.ts";
import { NEWCOMERS } from "./newcomers.ts";
import type { Newcomers } from "./newcomers.ts";
import type { StatusCode } from "../status.ts";
import { GROUP_NAME } from "../manifest/capability.ts";
import { QUOTA_LIMITS } from "./quota.ts";
import type { Quota } from "./quota.ts";
import type { Digest } from "../signing/digest.ts";
import type { WireBlobUpload } from "./blob.ts";
import type { Delivery } from "./delivery.ts";
import type { PushAnswer, WirePush } from "./wire-push.ts";
import { shapes } from "./shapes.ts";
import type { WireHandoffView } from "./wire-view.ts";

/** Where to continue a list; absent at its end. */
interface Listed<Cursor> {
  readonly next?: Cursor | undefined;
}

/** What a hub says about an agent. The agent's own claims are in its manifest. */
export interface WirePresence {
  readonly agent_id: string;
  readonly is_connected: boolean;
  readonly last_seen: string | null;
  readonly credit: number;
  readonly in_flight: number;
  readonly version?: string | undefined;
  readonly description?: string | undefined;
  /** In a list of agents the first capabilities by name, with name and version only. */
  readonly capabilities: readonly {
    readonly name: string;
    readonly version: string;
    readonly description?: string | undefined;
    readonly tags?: readonly string[] | undefined;
  }[];
  readonly capability_count: number;
  readonly sequence: number;
  readonly published_at: string;
  /** Present if an operator has disabled the agent. */
  readonly is_retired?: true | undefined;
  /** The newest manifest, as it was signed; like the agent's claims only for a single agent. */
  readonly manifest?: string | undefined;
}

/** A group of agents, as JSON. */
export interface WireGroup {
  readonly name: string;
  /** In a list of groups the first members by name. */
  readonly members: readonly string[];
  readonly member_count: number;
  readonly quota: Quota;
}

/** A dead letter, as JSON. */
export interface WireDeadLetter {
  readonly id: string;
  readonly status: StatusCode;
  readonly reason: string;
  readonly delegator: string;
  readonly capability: string;
  readonly correlation_id: string;
  readonly attempts: number;
}

/** One entry of the ledger, as a line of its export. */
export interface WireEntry {
  readonly sequence: number;
  readonly at: string;
  readonly type: "envelope" | "manifest" | "decision";
  readonly handoff_id: string | null;
  readonly from: string | null;
  readonly id: string | null;
  readonly digest: string;
  readonly content: string;
  readonly hash: string;
}

/** An invitation that a hub has made. */
export interface WireInvitation {
  /** Identifies the invitation. It is no secret. */
  readonly id: string;
  /** Present if it is for one agent only. */
  readonly agent?: string | undefined;
  readonly expires_at: string;
  /** The agent that was admitted by it. */
  readonly used_by?: string | undefined;
  /** The invitation itself, only in the answer to its maker. */
  readonly invitation?: string | undefined;
}

interface WireAttempt {
  readonly handoff_id: string;
  readonly attempt: number;
}

/** What a person may do who signs in to the console of a hub. */
export type ConsoleRole = "operator" | "reader";

/** The session of a console: it names its role and its end, and `key` signs its requests. */
export interface WireConsoleSession {
  readonly session: string;
  readonly key: string;
  readonly role: ConsoleRole;
  readonly expires_at: string;
}

/** What an agent sends to its hub when it polls its inbox, as JSON. */
export interface WireInboxNews {
  readonly instance: string;
  readonly taken?: readonly WireAttempt[] | undefined;
  readonly heartbeats?: readonly WireAttempt[] | undefined;
  readonly seen?: readonly string[] | undefined;
  readonly credit?: number | undefined;
}

/** The parameters of polling an inbox, as JSON. */
export interface WireInboxQuery {
  readonly instance: string;
  readonly wait_seconds?: number | undefined;
  readonly credit?: number | undefined;
  readonly cursor?: string | undefined;
}

/** What a hub says about itself at `/.well-known/waybill`. */
export interface WireWellKnown {
  readonly waybill: 1;
  readonly hub: string;
  /** The custody domain: the thumbprint of the key that signed the hub's first manifest. */
  readonly domain: string;
  readonly manifest: string;
  /** Whose first manifest is accepted. */
  readonly newcomers: Newcomers;
  readonly api: string;
  readonly socket: string;
  readonly agents: string;
  readonly openapi: string;
  readonly skill: string;
}

/** The schemas of what agents and hubs exchange over HTTP. */
export interface HttpShapes {
  readonly push: z.ZodType<WirePush>;
  readonly pushAnswer: z.ZodType<PushAnswer>;
  readonly submission: z.ZodType<{ envelope: string }>;
  readonly receipt: z.ZodType<{ receipt: string }>;
  readonly publication: z.ZodType<{ manifest: string; invitation?: string | undefined }>;
  readonly newInvitation: z.ZodType<{
    agent?: string | undefined;
    expires_seconds?: number | undefined;
  }>;
  readonly invitation: z.ZodType<WireInvitation>;
  readonly invitations: z.ZodType<Listed<string> & { invitations: readonly WireInvitation[] }>;
  readonly ofInvitation: z.ZodType<{ id: string }>;
  readonly pageByInvitation: z.ZodType<{
    after?: string | undefined;
    limit?: number | undefined;
  }>;
  /** An agent's id, or the thumbprint of a key. */
  readonly allowed: z.ZodType<{ who: string }>;
  readonly pinned: z.ZodType<{ kid: string }>;
  readonly group: z.ZodType<WireGroup>;
  readonly groups: z.ZodType<Listed<string> & { groups: readonly WireGroup[] }>;
  /** Who is added to a group, and who is removed. */
  readonly groupChange: z.ZodType<{
    add?: readonly string[] | undefined;
    remove?: readonly string[] | undefined;
  }>;
  readonly quota: z.ZodType<Quota>;
  readonly ofGroup: z.ZodType<{ name: string }>;
  readonly pageByGroup: z.ZodType<{ after?: string | undefined; limit?: number | undefined }>;
  readonly enrolled: z.ZodType<{ agent_id: string; sequence: number }>;
  readonly presence: z.ZodType<WirePresence>;
  readonly presences: z.ZodType<Listed<string> & { agents: readonly WirePresence[] }>;
  readonly inboxQuery: z.ZodType<WireInboxQuery>;
  readonly inbox: z.ZodType<{ cursor: string; deliveries: readonly Delivery[] }>;
  readonly inboxNews: z.ZodType<WireInboxNews>;
  readonly handoffs: z.ZodType<Listed<string> & { handoffs: readonly WireHandoffView[] }>;
  readonly entries: z.ZodType<Listed<number> & { entries: readonly WireEntry[] }>;
  readonly deadLetters: z.ZodType<Listed<string> & { dead_letters: readonly WireDeadLetter[] }>;
  readonly deadLetter: z.ZodType<
    Listed<number> & WireDeadLetter & { handoff: WireHandoffView; entries: readonly WireEntry[] }
  >;
  readonly checkpoint: z.ZodType<{ checkpoint: string }>;
  readonly discard: z.ZodType<{ reason: string }>;
  readonly newConsoleLink: z.ZodType<{ role?: ConsoleRole | undefined }>;
  readonly consoleLink: z.ZodType<{ code: string; role: ConsoleRole; expires_at: string }>;
  readonly consoleCode: z.ZodType<{ code: string }>;
  readonly consoleSession: z.ZodType<WireConsoleSession>;
  readonly consoleHost: z.ZodType<{ host: string | null }>;
  readonly ofFile: z.ZodType<{ file: string }>;
  readonly wellKnown: z.ZodType<WireWellKnown>;
  readonly health: z.ZodType<{ status: "ok" | "closing" }>;
  readonly ofAgent: z.ZodType<{ id: string }>;
  readonly ofHandoff: z.ZodType<{ id: string }>;
  readonly pageById: z.ZodType<{ after?: string | undefined; limit?: number | undefined }>;
  readonly pageBySequence: z.ZodType<{ after?: number | undefined; limit?: number | undefined }>;
  readonly pageByAgent: z.ZodType<{ after?: string | undefined; limit?: number | undefined }>;
  readonly afterSequence: z.ZodType<{ after?: number | undefined }>;
  readonly ofBlob: z.ZodType<{ digest: Digest }>;
  readonly blobUpload: z.ZodType<WireBlobUpload>;
  readonly correlated: z.ZodType<{
    correlation_id: string;
    after?: string | undefined;
    limit?: number | undefined;
  }>;
}

const LIST_AT_MOST = 500;
const GROUP_CHANGE_AT_MOST = 256;
const NEWS_AT_MOST = 1_000;
const CHALLENGE_CHARACTERS = 256;
const PROOF_CHARACTERS = 2_048;
/** Long enough for a sentence or two: it is on record forever. */
const REASON_CHARACTERS = 1_000;
const INVITATION_SECONDS_AT_MOST = 366 * 86_400;

/** The requests and responses of the HTTP API. */
export const httpShapes: () => HttpShapes = lazy(() => {
  const { agentId, id, kid, time, status, delivery, handoffView } = shapes();
  const member = z.string().regex(PRINCIPAL, "must be an agent id, or an edge's id, / and a name");
  const text = z.string();
  const count = z.int().min(0).max(Number.MAX_SAFE_INTEGER);
  const credit = z.int().min(0).max(10_000).optional();
  const limit = z.int().min(1).max(LIST_AT_MOST).optional();
  const instance = z.string().min(1).max(256);
  const digest = z
    .string()
    .regex(/^sha256:[0-9a-f]{64}$/, "must be a digest: sha256: and 64 of 0-9, a-f");

  const presence: z.ZodType<WirePresence> = z.object({
    agent_id: agentId,
    is_connected: z.boolean(),
    last_seen: time.nullable(),
    credit: count,
    in_flight: count,
    version: text.optional(),
    description: text.optional(),
    capabilities: z.array(
      z.object({
        name: text,
        version: text,
        description: text.optional(),
        tags: z.array(text).optional(),
      }),
    ),
    capability_count: count,
    sequence: z.int().min(1),
    published_at: time,
    is_retired: z.literal(true).optional(),
    manifest: text.optional(),
  });
  const attempts = z
    .array(z.object({ handoff_id: id, attempt: z.int().min(1).max(Number.MAX_SAFE_INTEGER) }))
    .max(NEWS_AT_MOST);
  const entry: z.ZodType<WireEntry> = z.object({
    sequence: z.int().min(1),
    at: time,
    type: z.enum(["envelope", "manifest", "decision"]),
    handoff_id: text.nullable(),
    from: text.nullable(),
    id: text.nullable(),
    digest,
    content: text,
    hash: digest,
  });
  const letter = {
    id,
    status,
    reason: text,
    delegator: agentId,
    capability: text,
    correlation_id: id,
    attempts: count,
  };

  const groupName = z
    .string()
    .regex(GROUP_NAME, "must be the name of a group: 1 to 64 of a-z, 0-9 and inner . _ -");
  const quota = z.object({
    open: z.int().min(0).max(QUOTA_LIMITS.open).optional(),
    per_minute: z.int().min(1).max(QUOTA_LIMITS.perMinute).optional(),
  });
  const group: z.ZodType<WireGroup> = z.object({
    name: groupName,
    members: z.array(member),
    member_count: count,
    quota,
  });
  const changed = z.array(member).max(GROUP_CHANGE_AT_MOST).optional();

  const consoleRole = z.enum(["operator", "reader"]);
  const consoleCode = text.regex(
    /^[\w-]{22}$/,
    "must be the code of a link: 22 of A-Z a-z 0-9 _ -",
  );
  const proof = text.max(PROOF_CHARACTERS);
  const challenge = text.max(CHALLENGE_CHARACTERS);

  const invitationId = z
    .string()
    .regex(INVITATION_ID, "must be the id of an invitation, which the list of invitations shows");
  const invitation = z.object({
    id: text,
    agent: agentId.optional(),
    expires_at: time,
    used_by: agentId.optional(),
    invitation: text.optional(),
  });
  return {
    push: z.object({
      waybill: z.literal(1),
      hub: agentId,
      agent: agentId,
      deliveries: z.array(delivery),
      challenge: challenge.optional(),
    }),
    pushAnswer: z.object({
      echo: challenge.optional(),
      envelopes: z.array(text).max(NEWS_AT_MOST).optional(),
      taken: attempts.optional(),
    }),
    submission: z.object({ envelope: text }),
    receipt: z.object({ receipt: text }),
    publication: z.object({ manifest: text, invitation: proof.optional() }),
    newInvitation: z.object({
      agent: agentId.optional(),
      expires_seconds: z.number().positive().max(INVITATION_SECONDS_AT_MOST).optional(),
    }),
    pinned: z.object({ kid }),
    allowed: z.object({ who: z.union([agentId, kid]) }),
    invitation,
    invitations: z.object({ invitations: z.array(invitation), next: invitationId.optional() }),
    ofInvitation: z.object({ id: invitationId }),
    pageByInvitation: z.object({ after: invitationId.optional(), limit }),
    group,
    groups: z.object({ groups: z.array(group), next: groupName.optional() }),
    groupChange: z.object({ add: changed, remove: changed }),
    quota,
    ofGroup: z.object({ name: groupName }),
    pageByGroup: z.object({ after: groupName.optional(), limit }),
    enrolled: z.object({ agent_id: agentId, sequence: z.int().min(1) }),
    presence,
    presences: z.object({ agents: z.array(presence), next: agentId.optional() }),
    inboxQuery: z.object({
      instance,
      wait_seconds: z.number().min(0).max(3_600).optional(),
      credit,
      cursor: z.string().max(256).optional(),
    }),
    inbox: z.object({ cursor: text, deliveries: z.array(delivery) }),
    inboxNews: z.object({
      instance,
      taken: attempts.optional(),
      heartbeats: attempts.optional(),
      seen: z.array(z.string().max(256)).max(NEWS_AT_MOST).optional(),
      credit,
    }),
    handoffs: z.object({ handoffs: z.array(handoffView), next: id.optional() }),
    entries: z.object({ entries: z.array(entry), next: z.int().min(1).optional() }),
    deadLetters: z.object({ dead_letters: z.array(z.object(letter)), next: id.optional() }),
    deadLetter: z.object({
      ...letter,
      handoff: handoffView,
      entries: z.array(entry),
      next: z.int().min(1).optional(),
    }),
    discard: z.object({ reason: z.string().min(1).max(REASON_CHARACTERS) }),
    checkpoint: z.object({ checkpoint: text }),
    newConsoleLink: z.object({ role: consoleRole.optional() }),
    consoleLink: z.object({ code: consoleCode, role: consoleRole, expires_at: time }),
    consoleCode: z.object({ code: consoleCode }),
    consoleSession: z.object({ session: text, key: text, role: consoleRole, expires_at: time }),
    consoleHost: z.object({ host: text.nullable() }),
    ofFile: z.object({ file: text.regex(/^[\w.-]{1,100}$/, "must be the name of a file") }),
    wellKnown: z.object({
      waybill: z.literal(1),
      hub: agentId,
      domain: kid,
      manifest: text,
      newcomers: z.enum(NEWCOMERS),
      api: text,
      socket: text,
      agents: text,
      openapi: text,
      skill: text,
    }),
    health: z.object({ status: z.enum(["ok", "closing"]) }),
    ofAgent: z.object({ id: agentId }),
    ofHandoff: z.object({ id }),
    pageById: z.object({ after: id.optional(), limit }),
    pageBySequence: z.object({ after: count.optional(), limit }),
    pageByAgent: z.object({ after: agentId.optional(), limit }),
    afterSequence: z.object({ after: count.optional() }),
    ofBlob: z.object({ digest: digest as z.ZodType<string> as z.ZodType<Digest> }),
    blobUpload: z.object({ received: count, size: count.optional(), complete: z.boolean() }),
    correlated: z.object({ correlation_id: id, after: id.optional(), limit }),
  };
});

/** A shape, for code that only passes shapes on. */
export type Shape<Value> = z.ZodType<Value>;

/** The JSON Schema of the values that a shape accepts. */
export function jsonSchemaOf(shape: Shape<unknown>): Record<string, unknown> {
  const { $schema: _dialect, ...schema } = z.toJSONSchema(shape, {
    io: "input",
    target: "draft-2020-12",
  }) as Record<string, unknown>;
  return schema;
}
