import { endedKeyAdvice } from "../manifest/key-advice.ts";
import { utf8 } from "#platform";
import type { BatchRoots } from "../signing/batch.ts";
import type { Digest } from "../signing/digest.ts";
import type { Envelope, EnvelopeKind, HandoffEnvelope, ReceiptEnvelope } from "./envelope.ts";
import { checkCritical } from "./critical.ts";
import { envelopeSchemas } from "./envelope-schema.ts";
import { WaybillError } from "../error.ts";
import { parseJson } from "../json/json.ts";
import { verifyCompact } from "../signing/jws.ts";
import { LIMITS } from "../limits.ts";
import type { Limits } from "../limits.ts";
import type { KeyRecord } from "../manifest/manifest.ts";
import { fromSchemaError } from "./schema-error.ts";
import { parseTime } from "../time.ts";
import type { Usage } from "../usage/usage.ts";
import { fitsFastPath } from "./fast-path.ts";

/** How an envelope is verified: with which keys, at what time, and for which reader. */
export interface VerifyOptions {
  /** Looks up a key in the manifests that the reader trusts. */
  keyOf: (kid: string) => KeyRecord | undefined;
  /** When the envelope arrived: the key must be valid then. For old ledger entries the entry's time. */
  at: number;
  /** The reader's own id: envelopes addressed to others are refused. Undefined for a mere observer. */
  to?: string | undefined;
  /** The reader's custody domain: a handoff for another one is refused. Undefined for a mere observer. */
  domain?: string | undefined;
  limits?: Limits | undefined;
  /** The reader's own cache of batches, by default that of the process. */
  roots?: BatchRoots | undefined;
  /**
   * Whether to accept an earlier verification of this exact text and key in this process. Everything
   * else is checked again.
   */
  mayRecall?: boolean | undefined;
}

/** An envelope whose signature, sender, addressee and times have been checked. */
export interface VerifiedEnvelope<Any extends Envelope = Envelope> {
  envelope: Any;
  /** Digest of `text`, by which receipts and ledgers refer to it. */
  digest: Digest;
  /** The exact string that was verified; keep this one, never a re-encoding. */
  text: string;
  kid: string;
}

/**
 * Checks signature, key and time, then parses exactly the bytes that were signed.
 *
 * @example
 * ```ts
 * const { envelope, digest } = verifyEnvelope(text, { keyOf: (kid) => keys.get(kid), at: Date.now() });
 * ```
 */
export function verifyEnvelope(text: string, options: VerifyOptions): VerifiedEnvelope {
  const limits = options.limits ?? LIMITS;
  let signer: KeyRecord | undefined;
  const keyOf = (kid: string) => (signer = options.keyOf(kid))?.key;
  const verified = verifyCompact(text, keyOf, {
    limits,
    roots: options.roots,
    mayRecall: options.mayRecall,
  });
  const envelope = parseEnvelope(verified.payload, limits);
  checkSigner(envelope, signer!, verified.kid, options.at);
  checkTimes(envelope, options.at, limits);
  if (options.to !== undefined && envelope.to !== options.to) {
    throw new WaybillError(
      403,
      `The envelope is addressed to ${nameOf(envelope)}, not to ${options.to}.`,
      {
        at: "/to",
      },
    );
  }
  checkDomain(envelope, options.domain);
  return { envelope, digest: verified.digest, text, kid: verified.kid };
}

function checkDomain(envelope: Envelope, domain: string | undefined): void {
  if (domain === undefined || envelope.kind !== "handoff" || envelope.domain === domain) return;
  throw new WaybillError(
    403,
    `The handoff ${envelope.handoff_id} is meant for the custody domain ${envelope.domain}, but this is ${domain}.`,
    { at: "/domain" },
  );
}

/** Parses the envelope in a payload: strict JSON, within the limits, and of a known kind. */
export function parseEnvelope(payload: string, limits: Limits = LIMITS): Envelope {
  return checkEnvelope(parseJson(payload, limits), limits);
}

/** Checks a value against the schema of its kind. */
export function checkEnvelope(value: unknown, limits: Limits = LIMITS): Envelope {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new WaybillError(400, "An envelope must be a JSON object; this is not one.");
  }
  const { kind } = value as { kind?: unknown };
  const schemas = envelopeSchemas();
  if (typeof kind !== "string" || !Object.hasOwn(schemas, kind)) {
    throw new WaybillError(
      400,
      `There is no envelope of kind ${JSON.stringify(kind) ?? "undefined"}; the kinds are ${Object.keys(schemas).join(", ")}.`,
      { at: "/kind" },
    );
  }
  const envelope = fitsFastPath(value)
    ? (value as Envelope)
    : bySchema(value, kind as EnvelopeKind);
  if (envelope.critical !== undefined) checkCritical(value, envelope.kind, envelope.critical);
  timeOf(envelope.issued_at, "/issued_at");
  if (envelope.kind === "handoff") checkStart(envelope);
  if (envelope.kind === "receipt") checkAlso(envelope, limits);
  checkLimits(envelope, limits);
  return envelope;
}

function checkStart({ deadline, not_before: start }: HandoffEnvelope): void {
  const until = timeOf(deadline, "/deadline");
  if (start === undefined || timeOf(start, "/not_before") < until) return;
  throw new WaybillError(
    400,
    `The work may not start before ${start}, but its deadline is ${deadline}; give it a later deadline.`,
    { at: "/not_before" },
  );
}

/** The limit comes first: a longer list is not looked through. */
function checkAlso(
  { handoff_id: own, body: { status, also } }: ReceiptEnvelope,
  limits: Limits,
): void {
  if (also === undefined) return;
  const at = "/body/also";
  atMost(also.length, limits.alsoListed, "further handoffs in a receipt", at);
  if (status !== 100 && status !== 200) {
    const message = `Only receipts of status 100 and 200 confirm several, not ${status}.`;
    throw new WaybillError(400, message, { at });
  }
  if (new Set([own, ...also.map(({ handoff_id: id }) => id)]).size > also.length) return;
  throw new WaybillError(400, "A receipt names each handoff once.", { at });
}

function bySchema(value: object, kind: EnvelopeKind): Envelope {
  const result = envelopeSchemas()[kind].safeParse(value);
  if (result.success) return result.data;
  throw fromSchemaError(result.error, `The ${kind} envelope`);
}

function checkSigner(envelope: Envelope, signer: KeyRecord, kid: string, at: number): void {
  if (envelope.from !== signer.agent) {
    throw new WaybillError(
      401,
      `The envelope claims to be from ${envelope.from}, but key ${kid} belongs to ${signer.agent}.`,
      { at: "/from" },
    );
  }
  if (at < signer.notBefore || at >= signer.notAfter) {
    throw new WaybillError(
      401,
      `Key ${kid} of ${signer.agent} was ${at < signer.notBefore ? "not valid yet" : "retired"} when this arrived. ${endedKeyAdvice(signer.agent)}`,
    );
  }
}

function checkTimes(envelope: Envelope, at: number, limits: Limits): void {
  const issuedAt = timeOf(envelope.issued_at, "/issued_at");
  if (issuedAt > at + limits.clockSkewMs) {
    throw new WaybillError(
      401,
      `The envelope was issued at ${envelope.issued_at}, in the future; check the sender's clock.`,
      { at: "/issued_at" },
    );
  }
  if (envelope.kind !== "handoff") return;
  const deadline = timeOf(envelope.deadline, "/deadline");
  if (deadline <= issuedAt) {
    throw new WaybillError(400, "The deadline is not after the time of issue.", {
      at: "/deadline",
    });
  }
  if (deadline - issuedAt > limits.deadlineAheadMs) {
    throw new WaybillError(
      401,
      `The envelope would be valid for too long: a deadline may be at most ${limits.deadlineAheadMs / 86_400_000} days after the time of issue.`,
      { at: "/deadline" },
    );
  }
}

/** The schema knows the form of a time, not the calendar: there is no 30 February. */
function timeOf(text: string, at: string): number {
  const time = parseTime(text);
  if (time === undefined) throw new WaybillError(400, `${text} is not a valid time.`, { at });
  return time;
}

function checkLimits(envelope: Envelope, limits: Limits): void {
  const { body } = envelope;
  if ("artifacts" in body && body.artifacts !== undefined) {
    atMost(body.artifacts.length, limits.artifacts, "artifacts", "/body/artifacts");
  }
  if ("usage" in body && body.usage !== undefined) checkUsage(body.usage, limits);
  if (envelope.kind === "handoff") {
    atMost(envelope.hop ?? 0, limits.hops, "hops", "/hop");
    atMost(envelope.group?.size ?? 0, limits.fanOut, "members in a group", "/group/size");
  } else if (envelope.kind === "question") {
    atMost(envelope.body.questions.length, limits.fanOut, "questions at once", "/body/questions");
    atMost(
      utf8(envelope.body.state ?? "").length,
      limits.pausedStateBytes,
      "bytes of state",
      "/body/state",
    );
  }
}

function checkUsage(usage: Usage, limits: Limits): void {
  for (const list of ["own", "earlier", "children"] as const) {
    const { length } = usage[list] ?? [];
    atMost(length, limits.usageRows, "rows of usage", `/body/usage/${list}`);
  }
  const children = usage.handoffs?.length ?? 0;
  atMost(children, limits.fanOut, "children in a usage", "/body/usage/handoffs");
}

function atMost(actual: number, limit: number, what: string, at: string): void {
  if (actual > limit) {
    throw new WaybillError(413, `${actual} ${what} exceed the limit of ${limit}.`, { at });
  }
}

function nameOf({ to }: Envelope): string {
  return typeof to === "string" ? to : `whoever has ${to.capability}`;
}
