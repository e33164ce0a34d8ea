import * as z from "zod";
import { AGENT_ID } from "../manifest/agent-id.ts";
import { BASE64URL } from "./base64url.ts";
import type {
  Artifact,
  HandoffBody,
  NoticeBody,
  ProgressBody,
  QuestionBody,
  ReceiptBody,
  ResultBody,
  Wanted,
} from "./body.ts";
import { ON_BEHALF_OF } from "../principal.ts";
import { PRIORITIES } from "../lifecycle/queue.ts";
import { CAPABILITY_NAME, TERM_LIMITS } from "../manifest/capability.ts";
import type { Contract } from "../contract/contract.ts";
import type { Digest } from "../signing/digest.ts";
import type { Envelope, EnvelopeKind } from "./envelope.ts";
import type { Json } from "../json/json.ts";
import { lazy } from "../lazy.ts";
import { messageSchemas } from "./message-schema.ts";
import { SESSION_ID, SESSION_STATES, SESSION_WAIT_SECONDS } from "../session.ts";
import type { Session, SessionState } from "../session.ts";
import { SALT } from "./salt.ts";
import { KID } from "../signing/key.ts";
import { STATUS } from "../status.ts";
import type { StatusCode } from "../status.ts";
import { TIME } from "../time.ts";
import { TRACEPARENT, TRACESTATE_CHARACTERS } from "../tracing/carrier.ts";
import type { Usage } from "../usage/usage.ts";
import { usageSchemas } from "../usage/usage-schema.ts";

const POINTER_CHARACTERS = 256;
const CRITICAL_MEMBERS = 32;

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

export type EnvelopeSchemas = {
  readonly [Kind in EnvelopeKind]: z.ZodType<Extract<Envelope, { kind: Kind }>>;
};

/** One schema for each kind. Unknown members are ignored, and stay in the signed bytes. */
export const envelopeSchemas: () => EnvelopeSchemas = lazy(() => {
  // The payload was already parsed as strict JSON, so a member may hold any value.
  const json = z.unknown() as z.ZodType<Json>;
  const agentId = z.string().regex(AGENT_ID, "must be an agent id: a-z, 0-9 and inner . _ -");
  const id = z.string().regex(UUID_V7, "must be a UUIDv7 in lower case");
  const kid = z.string().regex(KID, "must be the thumbprint of a key");
  const time = z.string().regex(TIME, "must be a UTC time such as 2026-11-18T07:45:00.000Z");
  const capabilityName = z.string().regex(CAPABILITY_NAME, "must be a capability's name");
  const digest = z
    .string()
    .regex(
      /^sha256:[0-9a-f]{64}$/,
      "must be sha256: and 64 hex digits",
    ) as z.ZodType<string> as z.ZodType<Digest>;
  const count = z.int().min(0).max(Number.MAX_SAFE_INTEGER);
  const milliseconds = count;
  const label = z.string().min(1).max(256);
  const prose = z.string().max(65_536);
  const status = z.literal(
    Object.keys(STATUS).map(Number),
  ) as z.ZodType<number> as z.ZodType<StatusCode>;

  const { money, row } = usageSchemas();
  const rows = z.array(row).optional();
  const usage: z.ZodType<Usage> = z.object({
    own: rows,
    earlier: rows,
    children: rows,
    handoffs: z.array(id).optional(),
  });
  const session: z.ZodType<Session> = z.object({
    id: z.string().regex(SESSION_ID, "must be 1 to 128 visible ASCII characters without a space"),
    wait_seconds: z.number().min(0).max(SESSION_WAIT_SECONDS).optional(),
  });
  const sessionState: z.ZodType<SessionState> = z.enum(SESSION_STATES);

  const contract: z.ZodType<Contract> = z.object({
    timeout_seconds: z.number().positive().max(TERM_LIMITS.timeoutSeconds).optional(),
    lease_seconds: z.number().positive().max(TERM_LIMITS.leaseSeconds).optional(),
    max_attempts: z.int().min(1).max(TERM_LIMITS.attempts).optional(),
    max_tokens: count.optional(),
    max_cost: money.optional(),
    output_schema: json.optional(),
  });

  const { messages } = messageSchemas();

  const artifacts: z.ZodType<Artifact[]> = z.array(
    z
      .object({
        name: label,
        media_type: label,
        digest,
        data: z.string().regex(BASE64URL, "must be unpadded base64url").optional(),
        url: z.url({ protocol: /^https?$/ }).optional(),
        size: count.optional(),
      })
      .refine(
        ({ data, url, size }) =>
          [data, url, size].filter((each) => each !== undefined).length === 1,
        { error: "must have exactly one of data, url and size" },
      ),
  );

  const wanted: z.ZodType<Wanted> = z.object({
    capability: capabilityName,
    version: label.optional(),
    tags: z.array(label).optional(),
    min_reliability: z.number().min(0).max(1).optional(),
  });

  const handoffBody: z.ZodType<HandoffBody> = z.object({
    capability: capabilityName,
    version: label.optional(),
    input: json.optional(),
    brief: z.object({ instruction: prose, expected_output: prose.optional() }).optional(),
    messages: messages.optional(),
    artifacts: artifacts.optional(),
    contract: contract.optional(),
    metadata: z.record(z.string(), json).optional(),
  });

  const receiptBody: z.ZodType<ReceiptBody> = z.object({
    status,
    reason: prose.optional(),
    counter: contract.optional(),
    retry_after_ms: milliseconds.optional(),
    session: sessionState.optional(),
    also: z
      .array(z.object({ handoff_id: id, re: digest }))
      .min(1)
      .optional(),
    refused: z
      .array(z.object({ handoff_id: id, status }))
      .min(1)
      .optional(),
  });

  const progressBody: z.ZodType<ProgressBody> = z.object({
    message: prose.optional(),
    fraction: z.number().min(0).max(1).optional(),
    data: json.optional(),
  });

  const questionBody: z.ZodType<QuestionBody> = z.object({
    questions: z
      .array(
        z.object({
          id: label,
          text: prose.optional(),
          data: json.optional(),
          schema: json.optional(),
        }),
      )
      .min(1)
      .refine((asked) => new Set(asked.map((each) => each.id)).size === asked.length, {
        error: "must not ask under one id twice",
      }),
    state: z.string().optional(),
    usage: usage.optional(),
  });

  const resultBody: z.ZodType<ResultBody> = z
    .object({
      status: status.refine((code) => code === 200 || code >= 400, {
        error: "must be 200 or a failure",
      }),
      output: json.optional(),
      messages: messages.optional(),
      artifacts: artifacts.optional(),
      error: z
        .object({
          message: prose,
          retryable: z.boolean().optional(),
          retry_after_ms: milliseconds.optional(),
          cause: json.optional(),
        })
        .optional(),
      effects: z.enum(["none", "possible", "done"]).optional(),
      usage: usage.optional(),
      session: sessionState.optional(),
    })
    .refine((body) => body.status === 200 || body.error !== undefined, {
      error: "a failure must say what happened in error.message",
    });

  const noticeBody: z.ZodType<NoticeBody> = z.object({
    status,
    reason: prose,
    data: json.optional(),
  });

  const base = {
    waybill: z.literal(1),
    id,
    from: agentId,
    handoff_id: id,
    correlation_id: id,
    issued_at: time,
    salt: z.string().regex(SALT, "must be 16 bytes in base64url"),
    // W3C Trace Context: an invalid one would break the trace for everyone downstream.
    traceparent: z.string().regex(TRACEPARENT, "must be a W3C traceparent").optional(),
    tracestate: z.string().max(TRACESTATE_CHARACTERS).optional(),
    critical: z.array(z.string().max(POINTER_CHARACTERS)).min(1).max(CRITICAL_MEMBERS).optional(),
  };
  const addressed = { ...base, to: agentId };
  const attempt = z.int().min(1).max(65_535);
  const ofAttempt = { ...addressed, attempt, re: digest };

  const group = z
    .object({
      id,
      index: count,
      size: z.int().min(1),
      join: z.enum(["all", "any", "quorum"]),
      quorum: z.int().min(1).optional(),
      on_failure: z.enum(["cancel", "wait"]).optional(),
    })
    .refine(({ index, size }) => index < size, { error: "index must be less than size" })
    .refine(
      ({ join, quorum, size }) => (join === "quorum") === (quorum !== undefined && quorum <= size),
      {
        error: "quorum goes with join: quorum, and is at most size",
      },
    );

  return {
    handoff: z.object({
      ...base,
      kind: z.literal("handoff"),
      domain: kid,
      to: z.union([agentId, wanted]),
      on_behalf_of: z
        .string()
        .regex(ON_BEHALF_OF, "must be 1 to 128 visible ASCII characters without a space")
        .optional(),
      deadline: time,
      not_before: time.optional(),
      priority: z.int().min(0).max(PRIORITIES.most).optional(),
      parent_id: id.optional(),
      hop: count.optional(),
      group: group.optional(),
      session: session.optional(),
      replay_of: id.optional(),
      body: handoffBody,
    }),
    cancel: z.object({
      ...addressed,
      kind: z.literal("cancel"),
      body: z.object({ reason: prose.optional() }),
    }),
    answer: z.object({
      ...addressed,
      kind: z.literal("answer"),
      re: digest,
      body: z
        .object({ question_id: label, answer: json })
        .refine((body) => body.answer !== undefined, { error: "must have an answer; null is one" }),
    }),
    receipt: z.object({
      ...addressed,
      kind: z.literal("receipt"),
      re: digest,
      attempt: attempt.optional(),
      body: receiptBody,
    }),
    progress: z.object({ ...ofAttempt, kind: z.literal("progress"), body: progressBody }),
    question: z.object({ ...ofAttempt, kind: z.literal("question"), body: questionBody }),
    result: z.object({ ...ofAttempt, kind: z.literal("result"), body: resultBody }),
    notice: z.object({
      ...addressed,
      kind: z.literal("notice"),
      attempt: attempt.optional(),
      re: digest.optional(),
      body: noticeBody,
    }),
  };
});
