import { isId } from "../id.ts";
import { isOnBehalfOf } from "../principal.ts";
import { PRIORITIES } from "../lifecycle/queue.ts";
import { isAgentId } from "../manifest/agent-id.ts";
import { isCapabilityName } from "../manifest/capability.ts";
import { isSessionId, SESSION_STATES, SESSION_WAIT_SECONDS } from "../session.ts";
import { isDigest } from "../signing/digest.ts";
import { isKid } from "../signing/key.ts";
import { isStatusCode } from "../status.ts";
import { TIME } from "../time.ts";
import { TRACEPARENT, TRACESTATE_CHARACTERS } from "../tracing/carrier.ts";
import type { EnvelopeKind } from "./envelope.ts";
import { isSalt } from "./salt.ts";

type Check = (value: unknown) => boolean;

interface Shape {
  readonly checks: ReadonlyMap<string, Check>;
  readonly required: readonly string[];
}

const text =
  (least: number, most: number): Check =>
  (value) =>
    typeof value === "string" && value.length >= least && value.length <= most;
const whole =
  (least: number, most: number): Check =>
  (value) =>
    Number.isInteger(value) && (value as number) >= least && (value as number) <= most;
const matching =
  (pattern: RegExp): Check =>
  (value) =>
    typeof value === "string" && pattern.test(value);
const anything: Check = () => true;
const time = matching(TIME);
const label = text(1, 256);
const count = whole(0, Number.MAX_SAFE_INTEGER);

function shapeOf(required: Record<string, Check>, others: Record<string, Check> = {}): Shape {
  return {
    checks: new Map(Object.entries({ ...required, ...others })),
    required: Object.keys(required),
  };
}

const object =
  (shape: Shape): Check =>
  (value) =>
    fits(value, shape);

const list =
  (shape: Shape): Check =>
  (value) =>
    Array.isArray(value) && value.length > 0 && value.every((each) => fits(each, shape));

function fits(value: unknown, { checks, required }: Shape): boolean {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const members = value as Readonly<Record<string, unknown>>;
  for (const name in members) {
    const member = members[name];
    if (member === undefined) continue;
    const check = checks.get(name);
    if (check === undefined || !check(member)) return false;
  }
  for (const name of required) if (members[name] === undefined) return false;
  return true;
}

const base = {
  waybill: (value: unknown) => value === 1,
  kind: anything,
  id: isId,
  from: isAgentId,
  handoff_id: isId,
  correlation_id: isId,
  issued_at: time,
  salt: isSalt,
};
const trace = {
  traceparent: matching(TRACEPARENT),
  tracestate: text(0, TRACESTATE_CHARACTERS),
};
const isEffects = (value: unknown) => value === "none" || value === "possible" || value === "done";
const isSessionState = (value: unknown) => (SESSION_STATES as readonly unknown[]).includes(value);
const isWait = (value: unknown) =>
  typeof value === "number" && value >= 0 && value <= SESSION_WAIT_SECONDS;
const session = object(shapeOf({ id: isSessionId }, { wait_seconds: isWait }));
const attempt = whole(1, 65_535);
const acknowledged = list(shapeOf({ handoff_id: isId, re: isDigest }));
const wanted = object(shapeOf({ capability: isCapabilityName }, { version: label }));

const SHAPES: ReadonlyMap<unknown, Shape> = new Map<EnvelopeKind, Shape>([
  [
    "handoff",
    shapeOf(
      {
        ...base,
        domain: isKid,
        to: (value) => isAgentId(value) || wanted(value),
        deadline: time,
        body: object(
          shapeOf({ capability: isCapabilityName }, { version: label, input: anything }),
        ),
      },
      {
        ...trace,
        parent_id: isId,
        hop: count,
        session,
        replay_of: isId,
        on_behalf_of: isOnBehalfOf,
        not_before: time,
        priority: whole(0, PRIORITIES.most),
      },
    ),
  ],
  [
    "receipt",
    shapeOf(
      {
        ...base,
        to: isAgentId,
        re: isDigest,
        body: object(
          shapeOf(
            { status: isStatusCode },
            { reason: text(0, 65_536), session: isSessionState, also: acknowledged },
          ),
        ),
      },
      { ...trace, attempt },
    ),
  ],
  [
    "result",
    shapeOf(
      {
        ...base,
        to: isAgentId,
        attempt,
        re: isDigest,
        body: object(
          shapeOf(
            { status: (value) => value === 200 },
            { output: anything, effects: isEffects, session: isSessionState },
          ),
        ),
      },
      trace,
    ),
  ],
]);

/**
 * Whether an envelope is a common one with known members only, so that the schema would return it
 * unchanged. This costs a tenth of the schema, which decides about all others and says what is wrong
 * with those that are refused.
 */
export function fitsFastPath(value: object): boolean {
  const shape = SHAPES.get((value as { kind?: unknown }).kind);
  return shape !== undefined && fits(value, shape);
}
