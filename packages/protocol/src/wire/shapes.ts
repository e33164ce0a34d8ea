import { ON_BEHALF_OF } from "../principal.ts";
import * as z from "zod";
import { AGENT_ID } from "../manifest/agent-id.ts";
import { CAPABILITY_NAME, capabilitySchema } from "../manifest/capability.ts";
import { isTime, TIME } from "../time.ts";
import type { Json } from "../json/json.ts";
import { lazy } from "../lazy.ts";
import { CLOSE_REASONS } from "../lifecycle/transitions.ts";
import type { CloseReason } from "../lifecycle/transitions.ts";
import { SESSION_STATES } from "../session.ts";
import { KID } from "../signing/key.ts";
import { STATUS } from "../status.ts";
import type { StatusCode } from "../status.ts";
import type { Delivery } from "./delivery.ts";
import { DELTA_CHARACTERS } from "./delta.ts";
import type { WireFindQuery, WireFound, WireNames, WireSearch } from "./wire-found.ts";
import { CALLS } from "./frame.ts";
import type { AgentFrame, HubFrame } from "./frame.ts";
import type { Problem } from "./problem.ts";
import type { ManifestsQuery, WirePublished } from "./wire-published.ts";
import type { WireHandoffView } from "./wire-view.ts";

/** The schemas of what agents and hubs exchange over a socket. */
export interface Shapes {
  readonly agentFrame: z.ZodType<AgentFrame>;
  readonly hubFrame: z.ZodType<HubFrame>;
  readonly agentId: z.ZodType<string>;
  readonly id: z.ZodType<string>;
  readonly kid: z.ZodType<string>;
  readonly time: z.ZodType<string>;
  readonly status: z.ZodType<StatusCode>;
  readonly delivery: z.ZodType<Delivery>;
  readonly handoffView: z.ZodType<WireHandoffView>;
  readonly manifestsQuery: z.ZodType<ManifestsQuery>;
  /** Of an agent that is named elsewhere. */
  readonly manifestsPage: z.ZodType<Omit<ManifestsQuery, "agent">>;
  readonly published: z.ZodType<WirePublished>;
  readonly findQuery: z.ZodType<WireFindQuery>;
  readonly search: z.ZodType<WireSearch>;
  /** The same in a query string, which has no room for an input. */
  readonly searchQuery: z.ZodType<Omit<WireSearch, "input">>;
  readonly found: z.ZodType<WireFound>;
  readonly foundOrNames: z.ZodType<WireFound | WireNames>;
  readonly problem: z.ZodType<Problem>;
}

/** How many offers one answer ranks. */
const FOUND_AT_MOST = 100;
const MANIFESTS_AT_MOST = 500;
const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** The messages between an agent and a hub around the envelopes. Unknown members are ignored. */
export const shapes: () => Shapes = lazy(() => {
  const json = z.unknown() as z.ZodType<Json>;
  const agentId = z.string().regex(AGENT_ID, "must be an agent id: a-z, 0-9 and inner . _ -");
  const id = z.string().regex(UUID_V7, "must be a UUIDv7 in lower case");
  const kid = z.string().regex(KID, "must be the thumbprint of a key");
  const time = z
    .string()
    .regex(TIME, "must be a UTC time such as 2026-11-18T07:45:00.000Z")
    .refine(isTime, "must be a time of the calendar");
  const envelope = z.string();
  const count = z.int().min(0);
  const attempt = z.int().min(1);
  const status = z.literal(
    Object.keys(STATUS).map(Number),
  ) as z.ZodType<number> as z.ZodType<StatusCode>;
  const receivedAt = z.record(z.string(), time);

  const delivery: z.ZodType<Delivery> = z.discriminatedUnion("type", [
    z.object({
      type: z.literal("offer"),
      id: z.string(),
      handoff_id: z.string(),
      attempt,
      envelope,
      remaining_ms: count,
      lease_ms: count,
      is_accepted: z.boolean(),
      resume: envelope.optional(),
      answers: z.array(envelope),
      received_at: receivedAt,
      session: z.enum(SESSION_STATES).optional(),
    }),
    z.object({
      type: z.literal("envelope"),
      id: z.string(),
      handoff_id: z.string(),
      envelope,
      received_at: receivedAt,
    }),
    z.object({
      type: z.literal("stop"),
      handoff_id: z.string(),
      attempt,
      status,
      reason: z.string(),
    }),
  ]);

  const handoffView: z.ZodType<WireHandoffView> = z.object({
    id,
    state: z.enum(["open", "completed", "failed", "cancelled", "dead_lettered"]),
    status,
    deadline: time,
    attempts: z.array(
      z.object({
        number: attempt,
        recipient: agentId,
        state: z.enum(["offered", "accepted", "waiting", "closed"]),
        closed: z.enum(Object.keys(CLOSE_REASONS) as CloseReason[]).nullable(),
        status,
      }),
    ),
    is_acknowledged: z.boolean(),
    on_behalf_of: z.string().regex(ON_BEHALF_OF).optional(),
    envelope,
    acceptance: envelope.optional(),
    questions: z.array(envelope),
    ending: envelope.optional(),
    received_at: receivedAt,
    session: z.enum(SESSION_STATES).optional(),
    starts_at: time.optional(),
    waits_for: z
      .array(
        z.object({
          agent_id: agentId,
          why: z.enum(["input", "terms", "rejected", "busy", "away", "session", "next"]),
          reason: z.string(),
        }),
      )
      .optional(),
  });

  const label = z.string().min(1).max(256);
  const capability = z.string().regex(CAPABILITY_NAME, "must be a capability's name");
  const input = json.optional();
  const wanted = {
    version: label.optional(),
    tags: z.array(label).max(64).optional(),
    within: z.number().positive().optional(),
    min_reliability: z.number().min(0).max(1).optional(),
    words: z.string().max(1024).optional(),
    after: z.string().max(512).optional(),
    limit: z.int().min(1).max(FOUND_AT_MOST).optional(),
  };
  const findQuery: z.ZodType<WireFindQuery> = z.object({ capability, input, ...wanted });
  const search: z.ZodType<WireSearch> = z.object({
    capability: capability.optional(),
    input,
    ...wanted,
  });
  const searchQuery: z.ZodType<Omit<WireSearch, "input">> = z.object({
    capability: capability.optional(),
    ...wanted,
  });

  const reasons = z.array(z.string());
  const found: z.ZodType<WireFound> = z.object({
    fits: z.array(
      z.object({
        agent_id: agentId,
        capability: capabilitySchema(),
        reliability: z.number(),
        is_measured: z.boolean(),
        is_contradicted: z.boolean(),
        standing: z.enum(["good", "worse", "ejected"]),
        in_flight: count.optional(),
        credit: count.optional(),
        mean_ms: z.number().min(0).optional(),
        behind: z.string().optional(),
        reasons,
      }),
    ),
    left_out: z.array(
      z.object({ agent_id: agentId, capability: z.string(), version: z.string(), reasons }),
    ),
    next: z.string().optional(),
  });
  const names = z.object({
    capabilities: z.array(z.object({ name: z.string(), agents: count })),
    next: z.string().optional(),
  });

  const page = {
    after: count.max(Number.MAX_SAFE_INTEGER).optional(),
    limit: z.int().min(1).max(MANIFESTS_AT_MOST).optional(),
    newest: z.boolean().optional(),
  };
  const published: z.ZodType<WirePublished> = z.object({
    manifests: z.array(z.object({ manifest: z.string(), at: time })),
    next: attempt.optional(),
  });

  const number = z.int().min(0).max(Number.MAX_SAFE_INTEGER);
  const problem: z.ZodType<Problem> = z.object({
    type: z.string(),
    title: z.string(),
    status: z.int().min(400).max(599),
    detail: z.string(),
    waybill_status: status,
    code: z.string(),
    at: z.string().optional(),
    retryable: z.boolean(),
    retry_after_ms: count.optional(),
    refusals: z
      .array(
        z.object({
          agent_id: agentId,
          capability: z.string(),
          version: z.string(),
          issues: z.array(z.object({ at: z.string(), message: z.string() })),
        }),
      )
      .optional(),
    received: count.optional(),
    remedy: z.string(),
  });

  const ofAttempt = { handoff_id: z.string(), attempt: number.min(1) };
  const delta = { ...ofAttempt, number, text: z.string().min(1).max(DELTA_CHARACTERS) };
  const ping = z.object({ type: z.literal("ping") });
  const pong = z.object({ type: z.literal("pong") });
  const anything = z.record(z.string(), z.unknown());
  const agentFrame: z.ZodType<AgentFrame> = z.union([
    z.object({ type: z.literal("hello"), proof: z.string(), credit: number }),
    z.object({ type: z.literal("call"), number, call: z.enum(CALLS), params: anything }),
    z.object({ type: z.literal("taken"), ...ofAttempt }),
    z.object({ type: z.literal("heartbeat"), ...ofAttempt }),
    z.object({ type: z.literal("delta"), ...delta }),
    z.object({ type: z.literal("seen"), id: z.string() }),
    z.object({ type: z.literal("credit"), credit: number }),
    ping,
    pong,
  ]);
  const hubFrame: z.ZodType<HubFrame> = z.union([
    z.object({
      type: z.literal("challenge"),
      waybill: z.literal(1),
      hub: z.string(),
      domain: z.string(),
      nonce: z.string(),
      limits: z.object({ message_characters: number.min(1), envelope_bytes: number.min(1) }),
    }),
    z.object({ type: z.literal("attached"), ping_ms: number.min(1) }),
    z.object({ type: z.literal("closed"), problem }),
    z.object({ type: z.literal("reply"), number, problem }),
    z.object({ type: z.literal("reply"), number, value: z.unknown() }),
    z.object({ type: z.literal("delivery"), delivery }),
    z.object({ type: z.literal("delta"), ...delta, by: z.string() }),
    ping,
    pong,
  ]);

  return {
    agentFrame,
    hubFrame,
    agentId,
    id,
    kid,
    time,
    status,
    delivery,
    handoffView,
    manifestsQuery: z.object({ agent: agentId, ...page }),
    manifestsPage: z.object(page),
    published,
    findQuery,
    search,
    searchQuery,
    found,
    foundOrNames: z.union([found, names]),
    problem,
  };
});
