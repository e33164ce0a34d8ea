import { vectorFile } from "./case.ts";
import type { Row, VectorFile } from "./case.ts";
import { changed } from "./envelope.ts";
import { digest, editor, hub, id, MINUTE, NOW, researcher, stranger, timeAt } from "./parties.ts";

type Members = Record<string, unknown>;
type Promise_ = "P1" | "P2" | "P3" | "P4";
type Expected = readonly [promise: Promise_, rule: string, index: number];

const TRACE = "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01";
const OTHER_TRACE = "00-fedcba9876543210fedcba9876543210-0123456789abcdef-01";

/** The nth handoff of a case; its envelope has the same id. */
const H = (n = 1): string => id(0x1000 * n);
const JOB = id(0xfff);

let count = 0;
const next = (): string => id(++count);
/** Named by their role: these cases only compare digests. */
const D = (name: string, n = 1): string => digest(`${name} ${n}`);

interface At {
  readonly n?: number;
  readonly at?: number;
}

function entry(
  name: string,
  envelope: Members,
  { n = 1, at = 0 }: At,
  more: Members = {},
): Members {
  return { type: "envelope", at: NOW + at, digest: D(name, n), envelope, ...more };
}

function about(n: number, from: string, to: string, kind: string, at: number): Members {
  return {
    waybill: 1,
    kind,
    id: next(),
    from,
    to,
    handoff_id: H(n),
    correlation_id: JOB,
    issued_at: timeAt(at),
    traceparent: TRACE,
  };
}

function handoff(over: Members = {}, { n = 1, at = 0 }: At = {}, more: Members = {}): Members {
  const envelope = {
    ...about(n, editor.agent, researcher.agent, "handoff", at),
    domain: hub.kid,
    deadline: timeAt(MINUTE),
    body: { capability: "web_research", contract: { max_attempts: 2, lease_seconds: 5 } },
  };
  return entry("handoff", changed(envelope, over), { n, at }, more);
}

const ofAttempt = (n: number, attempt = 1): Members => ({ attempt, re: D("handoff", n) });

function custody(over: Members = {}, where: At = {}): Members {
  const { n = 1, at = 1 } = where;
  const envelope = {
    ...about(n, hub.agent, editor.agent, "receipt", at),
    re: D("handoff", n),
    body: { status: 100 },
  };
  return entry("custody", changed(envelope, over), { n, at });
}
function acceptance(over: Members = {}, { n = 1, at = 20 }: At = {}, more: Members = {}): Members {
  const envelope = {
    ...about(n, researcher.agent, editor.agent, "receipt", at),
    ...ofAttempt(n),
    body: { status: 101 },
  };
  return entry("acceptance", changed(envelope, over), { n, at }, more);
}
function result(
  over: Members = {},
  { n = 1, at = 40 }: At = {},
  more: Members = {},
  name = "result",
): Members {
  const envelope = {
    ...about(n, researcher.agent, editor.agent, "result", at),
    ...ofAttempt(n),
    body: { status: 200, output: 1 },
  };
  return entry(name, changed(envelope, over), { n, at }, more);
}
function cancellation(
  over: Members = {},
  { n = 1, at = 40 }: At = {},
  more: Members = {},
): Members {
  return entry(
    "cancel",
    changed({ ...about(n, editor.agent, researcher.agent, "cancel", at), body: {} }, over),
    { n, at },
    more,
  );
}
function acknowledgement(
  over: Members = {},
  { n = 1, at = 50 }: At = {},
  more: Members = {},
): Members {
  const envelope = {
    ...about(n, editor.agent, hub.agent, "receipt", at),
    re: D("result", n),
    body: { status: 200 },
  };
  return entry("acknowledgement", changed(envelope, over), { n, at }, more);
}
function progress(over: Members = {}, { n = 1, at = 30 }: At = {}, more: Members = {}): Members {
  return entry(
    "progress",
    changed(
      { ...about(n, researcher.agent, editor.agent, "progress", at), ...ofAttempt(n), body: {} },
      over,
    ),
    { n, at },
    more,
  );
}
function question(over: Members = {}, { n = 1, at = 30 }: At = {}, more: Members = {}): Members {
  const envelope = {
    ...about(n, researcher.agent, editor.agent, "question", at),
    ...ofAttempt(n),
    body: { questions: [{ id: "q" }] },
  };
  return entry("question", changed(envelope, over), { n, at }, more);
}
function answer(over: Members = {}, { n = 1, at = 35 }: At = {}, more: Members = {}): Members {
  const envelope = {
    ...about(n, editor.agent, researcher.agent, "answer", at),
    re: D("question", n),
    body: { question_id: "q", answer: 1 },
  };
  return entry("answer", changed(envelope, over), { n, at }, more);
}
function notice(reason: string, { n = 1, at = MINUTE + 1 }: At = {}, over: Members = {}): Members {
  const envelope = {
    ...about(n, hub.agent, editor.agent, "notice", at),
    re: D("handoff", n),
    body: { status: 504, reason },
  };
  return entry("notice", changed(envelope, over), { n, at });
}
function event(type: string, at: number, more: Members = {}, n = 1): Members {
  return { type: "event", at: NOW + at, handoff_id: H(n), event: { type, at: NOW + at, ...more } };
}
const offer = (at = 10, n = 1): Members => event("offer", at, { recipient: researcher.agent }, n);
const expiry = (at = MINUTE, n = 1): Members => event("expire", at, {}, n);
function applied(over: Members = {}, { n = 1, at = 60 }: At = {}): Members {
  return {
    type: "applied",
    at: NOW + at,
    handoff_id: H(n),
    digest: D("result", n),
    by: editor.agent,
    ...over,
  };
}
const effect = (key: string, { n = 1, at = 35 }: At = {}): Members => ({
  type: "effect",
  at: NOW + at,
  handoff_id: H(n),
  key,
});

function history(
  rules: readonly number[],
  title: string,
  entries: readonly Members[],
  violations: readonly Expected[] = [],
  options: Members = {},
): Row {
  return {
    rules,
    title,
    input: {
      entries,
      options: { is_complete: false, hub: hub.agent, clock_skew_ms: 0, ...options },
    },
    expect: {
      holds: violations.length === 0,
      violations: violations.map(([promise, rule, index]) => ({ promise, rule, index })),
    },
  };
}

const COMPLETE = { is_complete: true };
const TO_STRANGER = { to: stranger.agent };
const TO_ANYBODY = { to: { capability: "web_research" } };
/** Another digest than that of the later envelope. */
const NAMED = { digest: D("another") };
const REFUSED = { status: 403, ...NAMED };
const BEGUN = [handoff(), custody(), offer(), acceptance()];
const PLAIN = [...BEGUN, progress(), effect(H()), result(), acknowledgement(), applied()];
const group = (index: number, over: Members = {}): Members => ({
  group: { id: id(0xfffe), index, size: 2, join: "all", ...over },
});
const second = (over: Members = {}, more: Members = {}): Members =>
  handoff(over, { n: 2, at: 5 }, more);

const HOLDS: readonly Row[] = [
  history([42, 57, 58], "a handoff from its custody to its end", PLAIN, [], COMPLETE),
  history(
    [55],
    "a handoff that expires",
    [
      ...BEGUN,
      progress({}, { at: 4000 }),
      progress({ id: id(0xabc) }, { at: 8000 }, { digest: D("more progress") }),
      expiry(),
      notice("the deadline has come"),
    ],
    [],
    COMPLETE,
  ),
  history([57], "a handoff that is cancelled", [...BEGUN, cancellation()], [], COMPLETE),
  history(
    [47, 48, 52],
    "an attempt that is lost, its late result, and the next attempt",
    [
      ...BEGUN,
      event("lease_lost", 5020, { attempt: 1 }),
      offer(15_000),
      result({}, { at: 15_005 }, { status: 410 }, "late"),
      result({ attempt: 2 }, { at: 15_020 }),
    ],
    [],
    COMPLETE,
  ),
  history(
    [40],
    "envelopes that are repeated and answered 201",
    [
      handoff(),
      handoff({}, { at: 1 }, { status: 201 }),
      offer(),
      acceptance(),
      result(),
      result({}, { at: 45 }, { status: 201 }),
    ],
    [],
    COMPLETE,
  ),
  history(
    [45],
    "a stranger's envelopes, refused",
    [
      ...BEGUN,
      progress({ from: stranger.agent }, {}, { status: 403, digest: D("stranger") }),
      cancellation({ from: stranger.agent }, {}, { status: 403 }),
      result(),
    ],
    [],
    COMPLETE,
  ),
  history(
    [41],
    "a child with its parent's deadline, correlation and trace",
    [
      handoff(),
      second({ parent_id: H(1), hop: 1 }),
      offer(10, 1),
      offer(10, 2),
      result({}, { n: 2 }),
      result({}, { at: 50 }),
    ],
    [],
    COMPLETE,
  ),
  history(
    [38, 41],
    "two of a group",
    [
      handoff(group(0)),
      second(group(1)),
      offer(10, 1),
      offer(10, 2),
      result({}, { n: 2 }),
      result({}, { at: 50 }),
    ],
    [],
    COMPLETE,
  ),
  history(
    [41, 57],
    "a cancellation that reaches the child",
    [handoff(), second({ parent_id: H(1) }), cancellation(), event("parent_ended", 41, {}, 2)],
    [],
    COMPLETE,
  ),
  history([42], "a history that is still going on", BEGUN),
  history(
    [88],
    "a cancellation that is addressed to the hub",
    [...BEGUN, cancellation({ to: hub.agent })],
    [],
    COMPLETE,
  ),
  history(
    [88],
    "a cancellation to the hub, which has picked the recipient",
    [handoff(TO_ANYBODY), offer(), cancellation({ to: hub.agent })],
    [],
    COMPLETE,
  ),
  history(
    [88],
    "a question, and its answer to the agent that asked",
    [...BEGUN, question(), answer(), result(), acknowledgement()],
    [],
    COMPLETE,
  ),
  history(
    [88],
    "envelopes that are addressed to another than the one that they are meant for, refused",
    [
      handoff(),
      offer(),
      acceptance(TO_STRANGER, {}, REFUSED),
      acceptance(),
      progress(TO_STRANGER, {}, REFUSED),
      question(TO_STRANGER, {}, REFUSED),
      question(),
      answer(TO_STRANGER, {}, REFUSED),
      answer(),
      cancellation(TO_STRANGER, {}, REFUSED),
      result(TO_STRANGER, {}, REFUSED),
      result(),
      acknowledgement(TO_STRANGER, {}, REFUSED),
      acknowledgement(),
      applied(),
    ],
    [],
    COMPLETE,
  ),
];

/** Two handoffs of the editor that have ended, and an acknowledgement of both. */
const TWO_ENDED = [handoff(), second(), offer(10, 1), offer(10, 2), result(), result({}, { n: 2 })];
const listed = (n: number, over: Members = {}): Members => ({
  handoff_id: H(n),
  re: D("result", n),
  ...over,
});
const both = (over: Members = {}): Members =>
  acknowledgement({ body: { status: 200, also: [listed(2)] }, ...over });
const acknowledged = (n: number, over: Members = {}): Members =>
  event(
    "acknowledge",
    51,
    { by: editor.agent, outcome: D("result", n), in: D("acknowledgement"), ...over },
    n,
  );
const receiptForBoth = custody({ re: D("acknowledgement") }, { at: 52 });

const LISTS: readonly Row[] = [
  history(
    [106, 107],
    "two handoffs that one envelope acknowledges",
    [...TWO_ENDED, both(), acknowledged(1), acknowledged(2), receiptForBoth],
    [],
    COMPLETE,
  ),
  history([107], "an acknowledgement of several, of which the hub has refused the first", [
    ...BEGUN,
    second(),
    offer(10, 2),
    result({}, { n: 2 }),
    both(),
    acknowledged(2),
  ]),
  history(
    [107],
    "an acknowledgement of several, recorded by the hub, that nobody has signed",
    [...TWO_ENDED, acknowledged(1)],
    [["P1", "acknowledged_without_envelope", 6]],
  ),
  history(
    [107],
    "a handoff that the list does not name",
    [...TWO_ENDED, both({ body: { status: 200, also: [listed(3)] } }), acknowledged(2)],
    [["P1", "acknowledged_without_envelope", 7]],
  ),
  history(
    [107],
    "another end than the list names",
    [
      ...TWO_ENDED,
      both({ body: { status: 200, also: [listed(2, { re: D("other") })] } }),
      acknowledged(2),
    ],
    [["P1", "acknowledged_without_envelope", 7]],
  ),
  history(
    [45, 107],
    "a list of somebody else than the delegator",
    [...TWO_ENDED, both({ from: stranger.agent }), acknowledged(2)],
    [["P1", "acknowledged_without_envelope", 7]],
  ),
  history(
    [58, 107],
    "an acknowledgement of what has not ended, recorded by the hub",
    [...BEGUN, both(), acknowledged(1)],
    [["P2", "event_refused", 5]],
  ),
  history(
    [107],
    "an acknowledgement that the hub records twice",
    [...TWO_ENDED, both(), acknowledged(2), acknowledged(2)],
    [["P2", "event_refused", 8]],
  ),
  history(
    [41, 107],
    "an acknowledgement of several under another correlation id",
    [...TWO_ENDED, both({ correlation_id: id(0xffa) })],
    [["P4", "correlation_differs", 6]],
  ),
  history(
    [88],
    "an acknowledgement of several to another than the hub",
    [...TWO_ENDED, both(TO_STRANGER)],
    [["P4", "addressed_to_another", 6]],
  ),
];

/** A custody receipt for two handoffs, or for what is listed instead of the second. */
const forBoth = (named: Members = {}, over: Members = {}): Members => {
  const also = [{ handoff_id: H(2), re: D("handoff", 2), ...named }];
  return custody({ body: { status: 100, also }, ...over }, { at: 60 });
};

const SECOND_ACCEPTED = [second(), offer(10, 2), acceptance({}, { n: 2 })];

const SHARED_RECEIPTS: readonly Row[] = [
  history([108], "a custody receipt for two handoffs", [handoff(), second(), forBoth()]),
  history([108], "a custody receipt for the acceptances of two handoffs", [
    ...BEGUN,
    ...SECOND_ACCEPTED,
    forBoth({ re: D("acceptance", 2) }, { to: researcher.agent, re: D("acceptance") }),
  ]),
  history(
    [108],
    "a custody receipt for two to another than their sender",
    [handoff(), second(), forBoth({}, { to: researcher.agent })],
    [
      ["P4", "addressed_to_another", 2],
      ["P4", "addressed_to_another", 2],
    ],
  ),
  history(
    [108],
    "a custody receipt for two, of which one was never sent",
    [handoff(), second(), forBoth({ re: D("other") })],
    [["P1", "custody_without_envelope", 2]],
  ),
  history(
    [108],
    "a custody receipt for two, before the second was taken",
    [handoff(), forBoth(), second()],
    [["P1", "custody_without_envelope", 1]],
  ),
  history(
    [108],
    "a custody receipt that names an envelope under another handoff",
    [handoff(), second(), forBoth({ handoff_id: H(3) })],
    [["P1", "custody_without_envelope", 2]],
  ),
  history(
    [108],
    "a custody receipt for two by somebody else than the hub",
    [handoff(), second(), forBoth({}, { from: stranger.agent })],
    [["P1", "custody_not_by_hub", 2]],
  ),
  history(
    [109],
    "a custody receipt for the envelopes of two agents",
    [handoff(), ...SECOND_ACCEPTED, forBoth({ re: D("acceptance", 2) })],
    [["P4", "addressed_to_another", 4]],
  ),
];

/** Each was accepted although it is addressed to the wrong agent. */
const MISADDRESSED: readonly (readonly [title: string, entries: readonly Members[]])[] = [
  ["an acceptance to a stranger", [handoff(), offer(), acceptance(TO_STRANGER)]],
  ["progress to the hub", [...BEGUN, progress({ to: hub.agent })]],
  ["a question to its own sender", [...BEGUN, question({ to: researcher.agent })]],
  [
    "a release to a stranger",
    [...BEGUN, acceptance({ ...TO_STRANGER, body: { status: 300 } }, { at: 30 }, NAMED)],
  ],
  [
    "a rejection to a stranger",
    [handoff(), offer(), acceptance({ ...TO_STRANGER, body: { status: 422 } })],
  ],
  ["a result to a stranger", [...BEGUN, result(TO_STRANGER)]],
  ["an answer to a stranger", [...BEGUN, question(), answer(TO_STRANGER)]],
  ["an answer to the hub", [...BEGUN, question(), answer({ to: hub.agent })]],
  ["a cancellation to a stranger", [...BEGUN, cancellation(TO_STRANGER)]],
  [
    "a cancellation to the recipient that the hub has picked",
    [handoff(TO_ANYBODY), offer(), cancellation()],
  ],
  [
    "an acknowledgement to the recipient",
    [...BEGUN, result(), acknowledgement({ to: researcher.agent })],
  ],
  ["a custody receipt to another than the sender", [handoff(), custody(TO_STRANGER)]],
  [
    "a notice to another than the delegator",
    [handoff(), expiry(), notice("late", {}, TO_STRANGER)],
  ],
];

const BROKEN: readonly Row[] = [
  history(
    [45],
    "an acceptance that the recipient did not sign",
    [handoff(), custody(), offer(), acceptance({ from: hub.agent }, {}, { status: 100 })],
    [["P1", "acceptance_not_by_recipient", 3]],
  ),
  history(
    [46, 74],
    "an acceptance of another digest, taken",
    [handoff(), custody(), offer(), acceptance({ re: D("other") }, {}, { status: 100 })],
    [["P1", "acceptance_of_other_digest", 3]],
  ),
  history(
    [42],
    "a custody receipt by somebody else than the hub",
    [handoff(), custody({ from: stranger.agent })],
    [["P1", "custody_not_by_hub", 1]],
  ),
  history(
    [42],
    "a custody receipt for what was never sent",
    [handoff(), custody({ re: D("other") })],
    [["P1", "custody_without_envelope", 1]],
  ),
  history(
    [42],
    "a second success after the first",
    [...BEGUN, result(), result({ id: id(0xabd) }, { at: 45 }, { status: 100 }, "second")],
    [["P2", "ended_twice", 5]],
  ),
  history(
    [42, 57],
    "a cancellation that is taken after the result",
    [...BEGUN, result(), cancellation({}, { at: 45 }, { status: 100 })],
    [["P2", "ended_twice", 5]],
  ),
  history(
    [42],
    "progress that is taken after the end",
    [...BEGUN, result(), progress({}, { at: 45 }, { status: 100 })],
    [["P2", "after_end", 5]],
  ),
  history(
    [42, 55],
    "an expiry after the result",
    [...BEGUN, result(), expiry()],
    [["P2", "ended_twice", 5]],
  ),
  history([42], "an end that is missing", BEGUN, [["P2", "never_ended", -1]], COMPLETE),
  history(
    [55],
    "a handoff that is still open after its deadline",
    [handoff(), custody(), handoff({ deadline: timeAt(3 * MINUTE) }, { n: 2, at: 2 * MINUTE })],
    [
      ["P2", "never_ended", -1],
      ["P3", "open_past_deadline", -1],
      ["P2", "never_ended", -1],
    ],
    COMPLETE,
  ),
  history(
    [40],
    "a handoff that is taken twice",
    [handoff(), handoff({}, { at: 1 }, { status: 100 })],
    [["P2", "repeat_not_noticed", 1]],
  ),
  history(
    [40],
    "a repetition of nothing",
    [...BEGUN, progress({}, {}, { status: 201 })],
    [["P2", "duplicate_of_nothing", 4]],
  ),
  history(
    [44, 59],
    "a second offer while an attempt is under way",
    [...BEGUN, offer(25)],
    [["P2", "event_refused", 4]],
  ),
  history(
    [48],
    "a lease that is lost before its time",
    [...BEGUN, event("lease_lost", 3000, { attempt: 1 })],
    [["P2", "event_refused", 4]],
  ),
  history(
    [45],
    "a stranger's cancellation, taken",
    [...BEGUN, cancellation({ from: stranger.agent }, {}, { status: 100 })],
    [["P2", "against_rules", 4]],
  ),
  history(
    [57],
    "a child that ends with a parent that goes on",
    [handoff(), second({ parent_id: H(1) }), event("parent_ended", 41, {}, 2)],
    [["P2", "parent_not_ended", 2]],
  ),
  history(
    [42],
    "a result that is applied before the end",
    [...BEGUN, applied()],
    [["P2", "applied_before_end", 4]],
  ),
  history(
    [42],
    "a result that is applied twice",
    [...PLAIN, applied({}, { at: 70 })],
    [["P2", "applied_twice", 9]],
  ),
  history(
    [42],
    "something else than the outcome is applied",
    [...BEGUN, result(), applied({ digest: D("other") })],
    [["P2", "applied_not_outcome", 5]],
  ),
  history(
    [42],
    "an outside effect under another key than the handoff's id",
    [...BEGUN, effect(`${H()}-1`)],
    [["P2", "effect_key", 4]],
  ),
  history(
    [42],
    "an outside effect that happens twice",
    [...BEGUN, effect(H()), effect(H(), { at: 36 })],
    [["P2", "effect_twice", 5]],
  ),
  history(
    [41],
    "a child that outlives its parent",
    [handoff(), second({ parent_id: H(1), deadline: timeAt(MINUTE + 1) })],
    [["P3", "child_outlives_parent", 1]],
  ),
  history(
    [55],
    "a success at the deadline",
    [...BEGUN, progress({}, { at: 30 }), result({}, { at: MINUTE }, { status: 100 })],
    [["P3", "completed_late", 5]],
  ),
  history(
    [55],
    "an expiry before the deadline",
    [handoff(), expiry(MINUTE - 1)],
    [["P3", "expired_early", 1]],
  ),
  history(
    [55],
    "a dead letter without a reason",
    [handoff(), expiry(), notice(" ")],
    [["P3", "dead_letter_without_reason", 2]],
  ),
  history(
    [41],
    "a result under another correlation id",
    [...BEGUN, result({ correlation_id: id(0xabe) })],
    [["P4", "correlation_differs", 4]],
  ),
  history(
    [41],
    "a result of another trace",
    [...BEGUN, result({ traceparent: OTHER_TRACE })],
    [["P4", "trace_differs", 4]],
  ),
  history(
    [41],
    "a child under another correlation id",
    [handoff(), second({ parent_id: H(1), correlation_id: id(0xabf) })],
    [["P4", "child_correlation_differs", 1]],
  ),
  history(
    [41],
    "a child of another trace",
    [handoff(), second({ parent_id: H(1), traceparent: OTHER_TRACE })],
    [["P4", "child_trace_differs", 1]],
  ),
  history(
    [45],
    "a result by an agent that does not hold the attempt, taken",
    [...BEGUN, result({ from: stranger.agent }, {}, { status: 100 })],
    [["P4", "result_not_by_recipient", 4]],
  ),
  history(
    [46],
    "a result for another handoff, taken",
    [...BEGUN, result({ re: D("handoff", 2) }, {}, { status: 100 })],
    [["P4", "result_of_other_digest", 4]],
  ),
  history(
    [38],
    "a group whose size changes",
    [handoff(group(0)), second(group(1, { size: 3 }))],
    [["P4", "group_differs", 1]],
  ),
  history(
    [38],
    "a place that is not in the group",
    [handoff(group(0)), second(group(2))],
    [["P4", "group_index_out_of_range", 1]],
  ),
  history(
    [38],
    "a place of a group that is taken",
    [handoff(group(0)), second(group(0))],
    [["P4", "group_index_taken", 1]],
  ),
  history(
    [41],
    "the result of another handoff is applied",
    [
      handoff(),
      second(),
      offer(10, 1),
      offer(10, 2),
      result({}, { n: 1 }),
      result({}, { n: 2 }),
      applied({ digest: D("result", 2) }),
    ],
    [["P4", "applied_of_another", 6]],
  ),
  history(
    [45],
    "a result that somebody else applies",
    [...BEGUN, result(), applied({ by: stranger.agent })],
    [["P4", "applied_by_another", 5]],
  ),
];

export const HISTORIES: VectorFile = vectorFile(
  "histories",
  "history",
  "Records of a hub, and which promise each of them breaks, where.",
  [
    ...HOLDS,
    ...BROKEN,
    ...LISTS,
    ...SHARED_RECEIPTS,
    ...MISADDRESSED.map(([title, entries]) =>
      history([88], `${title}, taken`, entries, [
        ["P4", "addressed_to_another", entries.length - 1],
      ]),
    ),
  ],
);
