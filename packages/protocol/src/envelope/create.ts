import type { Wanted } from "./body.ts";
import type { Envelope, EnvelopeKind, Group, HandoffEnvelope } from "./envelope.ts";
import { WaybillError } from "../error.ts";
import type { Session } from "../session.ts";
import { newId } from "../id.ts";
import { newSalt } from "./salt.ts";
import { formatTime } from "../time.ts";

/** The sources of ids, salts and time, for callers that need them to be repeatable. */
export interface Source {
  now(): number;
  newId(): string;
  /** By default 128 bits of the system's randomness. */
  newSalt?: (() => string) | undefined;
}

const REAL: Source = { now: () => Date.now(), newId: () => newId() };

type EnvelopeOf<Kind extends EnvelopeKind> = Extract<Envelope, { kind: Kind }>;

/** What `createHandoff` makes a handoff from. */
export interface HandoffInput {
  from: string;
  /** The custody domain of the hub that takes it; hubs of other domains refuse it. */
  domain: string;
  /** An agent's id, or requirements for the hub's choice. By default any agent with `body.capability`. */
  to?: string | Wanted | undefined;
  body: HandoffEnvelope["body"];
  /** For whom `from` acts, if not for itself. A child does not inherit it. */
  onBehalfOf?: string | undefined;
  /** When the work must be done. Either this or `timeoutMs` is required: nothing waits forever. */
  deadline?: Date | undefined;
  /** Counts from `notBefore`, if that is given and later than now. */
  timeoutMs?: number | undefined;
  /** The earliest time at which the work may start. */
  notBefore?: Date | undefined;
  /** From 0, the last in the queue, to 9, the first; by default that of the parent, or 4. */
  priority?: number | undefined;
  /** Made beforehand by a delegator that has to find its handoff again after a crash. */
  handoffId?: string | undefined;
  /** The handoff inside which this one is made: correlation, trace and deadline come from it. */
  parent?: HandoffEnvelope | undefined;
  correlationId?: string | undefined;
  group?: Group | undefined;
  /** The conversation that it belongs to. A child does not inherit its parent's. */
  session?: Session | undefined;
  replayOf?: string | undefined;
  traceparent?: string | undefined;
  tracestate?: string | undefined;
}

/**
 * Makes the envelope of a new handoff. A child never outlives its parent: its deadline is limited to
 * the parent's.
 *
 * @example
 * ```ts
 * const handoff = createHandoff({
 *   from: "editor",
 *   domain: hub.domain,
 *   body: { capability: "web_research", input: { topic: "tea" } },
 *   timeoutMs: 60_000,
 * });
 * ```
 */
export function createHandoff(input: HandoffInput, source: Source = REAL): HandoffEnvelope {
  const { parent } = input;
  const now = source.now();
  const id = source.newId();
  return {
    waybill: 1,
    kind: "handoff",
    id,
    from: input.from,
    domain: input.domain,
    to: input.to ?? { capability: input.body.capability, version: input.body.version },
    on_behalf_of: input.onBehalfOf,
    handoff_id: input.handoffId ?? id,
    correlation_id: parent?.correlation_id ?? input.correlationId ?? source.newId(),
    parent_id: parent?.handoff_id,
    hop: parent === undefined ? undefined : (parent.hop ?? 0) + 1,
    group: input.group,
    session: input.session,
    replay_of: input.replayOf,
    issued_at: formatTime(now),
    salt: saltFrom(source),
    deadline: deadlineOf(input, now),
    not_before: input.notBefore === undefined ? undefined : startOf(input.notBefore),
    priority: input.priority ?? parent?.priority,
    traceparent: traceOf(input),
    tracestate: input.tracestate ?? parent?.tracestate,
    body: input.body,
  };
}

function saltFrom(source: Source): string {
  return (source.newSalt ?? newSalt)();
}

/** A child may have a span of its own, but always in its parent's trace: one job is one trace. */
function traceOf({ traceparent, parent }: HandoffInput): string | undefined {
  const inherited = parent?.traceparent;
  if (traceparent === undefined || inherited === undefined) return traceparent ?? inherited;
  const [, trace] = traceparent.split("-");
  if (trace === inherited.split("-")[1]) return traceparent;
  throw new WaybillError(
    400,
    `A child must belong to the trace of its parent, ${inherited}, not to ${traceparent}.`,
    { at: "/traceparent" },
  );
}

/** The latest time that a Date can represent; beyond it, and for NaN, there is no deadline. */
const FARTHEST_MS = 8.64e15;

function startOf(notBefore: Date): string {
  if (Math.abs(notBefore.getTime()) <= FARTHEST_MS) return formatTime(notBefore.getTime());
  throw new WaybillError(400, "notBefore is not a time; give a valid Date.", { at: "/not_before" });
}

function deadlineOf({ deadline, timeoutMs, notBefore, parent }: HandoffInput, now: number): string {
  const start = Math.max(now, notBefore?.getTime() ?? now);
  const own = deadline?.getTime() ?? (timeoutMs === undefined ? undefined : start + timeoutMs);
  const inherited = parent === undefined ? undefined : Date.parse(parent.deadline);
  if (own === undefined && inherited === undefined) {
    throw new WaybillError(
      400,
      "A handoff must have a deadline: give deadline, timeoutMs, or the parent whose deadline it shares.",
      { at: "/deadline" },
    );
  }
  const earliest = Math.min(own ?? Infinity, inherited ?? Infinity);
  if (!(Math.abs(earliest) <= FARTHEST_MS)) {
    throw new WaybillError(
      400,
      "The deadline is not a time; give a valid Date or a finite timeoutMs.",
      {
        at: "/deadline",
      },
    );
  }
  return formatTime(earliest);
}

/** Members of a reply that are derived from its handoff. */
type Given =
  | "waybill"
  | "kind"
  | "id"
  | "issued_at"
  | "salt"
  | "handoff_id"
  | "correlation_id"
  | "to";

/** The argument of `createReply`: the members that are not derived from the handoff. */
export type ReplyInput<Kind extends EnvelopeKind> = Omit<EnvelopeOf<Kind>, Given> & {
  kind: Kind;
  /** The addressee; by default the delegator of the handoff. */
  to?: string | undefined;
};

/**
 * Makes an envelope about a handoff. Ids, correlation and trace are copied from it, so they can't be
 * mixed up.
 */
export function createReply<Kind extends Exclude<EnvelopeKind, "handoff">>(
  handoff: HandoffEnvelope,
  input: ReplyInput<Kind>,
  source: Source = REAL,
): EnvelopeOf<Kind> {
  return {
    waybill: 1,
    id: source.newId(),
    to: handoff.from,
    handoff_id: handoff.handoff_id,
    correlation_id: handoff.correlation_id,
    issued_at: formatTime(source.now()),
    salt: saltFrom(source),
    ...(handoff.traceparent === undefined ? {} : { traceparent: handoff.traceparent }),
    ...input,
  } as unknown as EnvelopeOf<Kind>;
}
