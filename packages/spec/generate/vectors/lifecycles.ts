import { vectorFile } from "./case.ts";
import type { Row, VectorFile } from "./case.ts";
import { digest } from "./parties.ts";

type Members = Record<string, unknown>;
/** An event, the reply to its sender, and the handoff's state and status after it. */
type Line = readonly [event: Members, reply: number, state: string | null, status: number | null];

const HANDOFF = digest("the handoff");
const OTHER = digest("another handoff");
const RESULT = digest("the result");
const SECOND = digest("a second result");
const CANCELLATION = digest("the cancellation");
const ANSWER = digest("the answer");

const DEADLINE = 100_000;
const TERMS = {
  max_attempts: 3,
  lease_ms: 300,
  offer_ms: 200,
  grace_ms: 100,
  backoff_ms: 40,
  backoff_cap_ms: 1000,
};

const d = (type: string, at: number, more: Members): Members => ({ type, at, by: "d", ...more });
const frame = (type: string, at: number, more: Members): Members => ({
  type,
  at,
  by: "r",
  attempt: 1,
  ...more,
});
const word = (type: string, at: number, more: Members): Members =>
  frame(type, at, { re: HANDOFF, ...more });

/** Events as an honest party sends them; the arguments are what a case is about. */
const submit = (more: Members = {}, terms: Members = {}): Members =>
  d("submit", 1000, {
    id: "h",
    digest: HANDOFF,
    recipient: "r",
    deadline: DEADLINE,
    terms: { ...TERMS, ...terms },
    ...more,
  });
const offer = (at: number, recipient = "r"): Members => ({ type: "offer", at, recipient });
const taken = (at: number, more: Members = {}) => frame("taken", at, more);
const heartbeat = (at: number, more: Members = {}) => frame("heartbeat", at, more);
const accept = (at: number, more: Members = {}) => word("accept", at, more);
const progress = (at: number, more: Members = {}) => word("progress", at, more);
const question = (at: number, questions: string[] = ["q"], more: Members = {}) =>
  word("question", at, { questions, ...more });
const pause = (at: number, questions: string[] = ["q"], more: Members = {}) =>
  word("pause", at, { questions, ...more });
const reject = (at: number, status: number, more: Members = {}) =>
  word("reject", at, { status, digest: RESULT, ...more });
const release = (at: number, status: number, more: Members = {}) =>
  word("release", at, { status, ...more });
const result = (at: number, status: number, more: Members = {}) =>
  word("result", at, { status, digest: RESULT, ...more });
const answer = (at: number, name = "q", more: Members = {}) =>
  d("answer", at, { question: name, digest: ANSWER, ...more });
const cancel = (at: number, more: Members = {}) =>
  d("cancel", at, { digest: CANCELLATION, ...more });
const acknowledge = (at: number, more: Members = {}) =>
  d("acknowledge", at, { outcome: RESULT, ...more });
const silent = (type: "unreachable" | "lease_lost", at: number, attempt = 1): Members => ({
  type,
  at,
  attempt,
});
const expire = (at: number): Members => ({ type: "expire", at });

const OPEN: Line = [submit(), 100, "open", 100];
const OFFERED: Line = [offer(1000), 100, "open", 100];
const ACCEPTED: Line = [accept(1010), 100, "open", 101];
const BEGUN: readonly Line[] = [OPEN, OFFERED, ACCEPTED];
/** The hub picks the recipient. */
const ANY: Line = [submit({ recipient: null }), 100, "open", 100];
const DONE: Line = [result(1030, 200), 100, "completed", 200];

/** Everything that an agent that is no party can send about a handoff. */
const aboutIt = (at: number): readonly Members[] => {
  const by = { by: "x" };
  return [
    taken(at, by),
    heartbeat(at, by),
    accept(at, by),
    progress(at, by),
    question(at, ["q"], by),
    pause(at, ["q"], by),
    reject(at, 406, by),
    release(at, 300, by),
    result(at, 200, by),
    answer(at, "q", by),
    cancel(at, by),
    acknowledge(at, by),
  ];
};

const RETRY = { is_retryable: true };
const NO_RETRY = { is_retryable: false };

/** `attempts` are the final states of the attempts, in the order of their numbers. */
function life(
  rules: readonly number[],
  title: string,
  lines: readonly Line[],
  attempts?: readonly string[],
): Row {
  return {
    rules,
    title,
    input: { events: lines.map(([event]) => event) },
    expect: {
      steps: lines.map(([, reply, state, status]) => ({ reply, state, status })),
      ...(attempts !== undefined && { attempts }),
    },
  };
}

const limited = (maxAttempts: number, recipient: string | null = "r"): Line => [
  submit({ recipient }, { max_attempts: maxAttempts }),
  100,
  "open",
  100,
];

const CUSTODY: readonly Row[] = [
  life(
    [42, 58],
    "a whole life",
    [
      ...BEGUN,
      [progress(1020), 100, "open", 102],
      DONE,
      [acknowledge(1040), 100, "completed", 200],
    ],
    ["closed:result"],
  ),
  life(
    [42],
    "a signed result stands for the acceptance that it came before",
    [OPEN, OFFERED, [taken(1005), 100, "open", 100], DONE],
    ["closed:result"],
  ),
  life([101], "an offer before the handoff may start, and one when it may", [
    [submit({ not_before: 1500 }), 100, "open", 100],
    [offer(1499), 403, "open", 100],
    [offer(1500), 100, "open", 100],
  ]),
  life([101], "a handoff that could have started before it came", [
    [submit({ not_before: 900 }), 100, "open", 100],
    OFFERED,
  ]),
  life([101], "the deadline of a handoff that has not started counts all the same", [
    [submit({ not_before: DEADLINE - 1 }), 100, "open", 100],
    [expire(DEADLINE), 100, "dead_lettered", 504],
  ]),
  life([43], "a handoff that is submitted at its deadline", [
    [submit({ at: DEADLINE }), 504, null, null],
  ]),
  life([43], "a handoff that is submitted long after its deadline", [
    [submit({ at: DEADLINE * 2 }), 504, null, null],
  ]),
  life([43], "a handoff that is submitted a millisecond before its deadline", [
    [submit({ at: DEADLINE - 1 }), 100, "open", 100],
  ]),
  life([40, 43], "the same handoff again, before and after its end", [
    OPEN,
    [submit({ at: 1001 }), 201, "open", 100],
    OFFERED,
    ACCEPTED,
    DONE,
    [submit({ at: 1050 }), 201, "completed", 200],
    [submit({ at: DEADLINE + 1 }), 201, "completed", 200],
  ]),
  life([40, 43], "another handoff under the same id", [
    OPEN,
    [submit({ at: 1001, digest: OTHER }), 409, "open", 100],
  ]),
  life([45, 130], "somebody else who submits under a known id", [
    OPEN,
    [submit({ at: 1001, by: "x" }), 403, "open", 100],
    [submit({ at: 1001, by: "x", digest: OTHER }), 403, "open", 100],
  ]),
  life([45, 130], "events about a handoff that is not in custody", [
    [accept(1000), 403, null, null],
    [cancel(1000), 403, null, null],
    [offer(1000), 403, null, null],
  ]),
];

const ENDS: readonly Row[] = [
  life(
    [42, 47],
    "after a result nothing changes any more",
    [
      ...BEGUN,
      DONE,
      [cancel(1040), 410, "completed", 200],
      [result(1040, 500, { digest: SECOND }), 410, "completed", 200],
      [progress(1040), 410, "completed", 200],
      [offer(1040), 410, "completed", 200],
      [expire(DEADLINE), 410, "completed", 200],
      [{ type: "parent_ended", at: 1040 }, 410, "completed", 200],
      [{ type: "dead_letter", at: 1040, status: 404 }, 410, "completed", 200],
    ],
    ["closed:result"],
  ),
  life([42], "the result that ended it, again", [
    ...BEGUN,
    DONE,
    [result(1040, 200), 201, "completed", 200],
  ]),
  life([42], "another result after the one that ended it", [
    ...BEGUN,
    DONE,
    [result(1040, 200, { digest: SECOND }), 410, "completed", 200],
  ]),
  life(
    [42, 57],
    "a cancellation wins over the result behind it",
    [
      ...BEGUN,
      [cancel(1020), 100, "cancelled", 499],
      [result(1030, 200), 410, "cancelled", 499],
      [cancel(1040), 201, "cancelled", 499],
      [cancel(1040, { digest: SECOND }), 410, "cancelled", 499],
    ],
    ["closed:superseded"],
  ),
  life(
    [57],
    "a cancellation before anybody was asked",
    [OPEN, [cancel(1001), 100, "cancelled", 499], [offer(1002), 410, "cancelled", 499]],
    [],
  ),
  life(
    [57],
    "a cancellation while a question is open",
    [
      ...BEGUN,
      [question(1020), 100, "open", 103],
      [cancel(1030), 100, "cancelled", 499],
      [answer(1040), 410, "cancelled", 499],
    ],
    ["closed:superseded"],
  ),
  life(
    [57],
    "a child whose parent has ended",
    [
      ...BEGUN,
      [{ type: "parent_ended", at: 1020 }, 100, "cancelled", 499],
      [result(1030, 200), 410, "cancelled", 499],
    ],
    ["closed:superseded"],
  ),
  life(
    [55],
    "at its deadline an open handoff is a dead letter",
    [OPEN, [expire(DEADLINE), 100, "dead_lettered", 504]],
    [],
  ),
  life([55], "nothing expires before its deadline", [
    OPEN,
    [expire(DEADLINE - 1), 403, "open", 100],
  ]),
  life(
    [55],
    "a result a millisecond before the deadline",
    [OPEN, [offer(99_900), 100, "open", 100], [result(DEADLINE - 1, 200), 100, "completed", 200]],
    ["closed:result"],
  ),
  life(
    [55],
    "a result at the deadline, before the timer",
    [OPEN, [offer(99_900), 100, "open", 100], [result(DEADLINE, 200), 410, "dead_lettered", 504]],
    ["closed:superseded"],
  ),
  life([55], "a result after the timer", [
    OPEN,
    [offer(99_900), 100, "open", 100],
    [expire(DEADLINE), 100, "dead_lettered", 504],
    [result(DEADLINE + 1, 200), 410, "dead_lettered", 504],
  ]),
  life([55], "a cancellation at the deadline", [
    OPEN,
    [cancel(DEADLINE), 410, "dead_lettered", 504],
  ]),
  life([55], "nobody can be asked at all", [
    ANY,
    [{ type: "dead_letter", at: 1001, status: 404 }, 100, "dead_lettered", 404],
    [offer(1002), 410, "dead_lettered", 404],
  ]),
];

const RIGHTS: readonly Row[] = [
  life(
    [44, 59],
    "a second offer while an attempt is under way",
    [
      ANY,
      OFFERED,
      [offer(1001, "s"), 403, "open", 100],
      ACCEPTED,
      [offer(1020, "s"), 403, "open", 101],
      [question(1030), 100, "open", 103],
      [offer(1040), 403, "open", 103],
    ],
    ["waiting"],
  ),
  life(
    [45],
    "only the agent that holds the attempt speaks of it",
    [
      OPEN,
      OFFERED,
      [taken(1001, { by: "x" }), 403, "open", 100],
      [accept(1001, { by: "x" }), 403, "open", 100],
      [accept(1001, { by: "d" }), 403, "open", 100],
      ACCEPTED,
      ...[
        heartbeat(1020, { by: "x" }),
        progress(1020, { by: "x" }),
        question(1020, ["q"], { by: "x" }),
        pause(1020, ["q"], { by: "d" }),
        release(1020, 300, { by: "x" }),
        result(1020, 200, { by: "d" }),
      ].map((event): Line => [event, 403, "open", 101]),
    ],
    ["accepted"],
  ),
  life(
    [45],
    "an attempt that there is not",
    [
      OPEN,
      OFFERED,
      [accept(1001, { attempt: 2 }), 403, "open", 100],
      [accept(1001, { attempt: 0 }), 403, "open", 100],
      [result(1001, 200, { attempt: -1 }), 403, "open", 100],
    ],
    ["offered"],
  ),
  life([45], "only the delegator cancels, answers and acknowledges", [
    ...BEGUN,
    [cancel(1020, { by: "r" }), 403, "open", 101],
    [cancel(1020, { by: "x" }), 403, "open", 101],
    [question(1020), 100, "open", 103],
    [answer(1030, "q", { by: "r" }), 403, "open", 103],
    [result(1040, 200), 100, "completed", 200],
    [acknowledge(1050, { by: "r" }), 403, "completed", 200],
    [acknowledge(1050, { by: "x" }), 403, "completed", 200],
  ]),
  life([130], "a stranger does not learn that a handoff is there, in whatever state", [
    OPEN,
    ...aboutIt(1000).map((event): Line => [event, 403, "open", 100]),
    OFFERED,
    ...aboutIt(1001).map((event): Line => [event, 403, "open", 100]),
    ACCEPTED,
    ...aboutIt(1020).map((event): Line => [event, 403, "open", 101]),
    DONE,
    ...aboutIt(1040).map((event): Line => [event, 403, "completed", 200]),
    [acknowledge(1050), 100, "completed", 200],
    ...aboutIt(1060).map((event): Line => [event, 403, "completed", 200]),
  ]),
  life(
    [130],
    "a stranger who speaks of no handoff is told the same",
    aboutIt(1000).map((event): Line => [event, 403, null, null]),
  ),
  life(
    [46, 74],
    "an acceptance of another digest binds nothing",
    [OPEN, OFFERED, [accept(1001, { re: OTHER }), 409, "open", 100]],
    ["offered"],
  ),
  life(
    [46],
    "whatever a recipient signs for another digest",
    [
      ...BEGUN,
      ...[
        progress(1020, { re: OTHER }),
        question(1020, ["q"], { re: OTHER }),
        pause(1020, ["q"], { re: OTHER }),
        release(1020, 300, { re: OTHER }),
        result(1020, 200, { re: OTHER }),
      ].map((event): Line => [event, 409, "open", 101]),
    ],
    ["accepted"],
  ),
  life([45, 46, 130], "a stranger does not learn that its digest is wrong", [
    OPEN,
    OFFERED,
    [accept(1001, { by: "x", re: OTHER }), 403, "open", 100],
  ]),
  life(
    [47],
    "a result of an attempt that was lost",
    [
      ...BEGUN,
      [silent("lease_lost", 1310), 100, "open", 502],
      [offer(5000), 100, "open", 100],
      [result(5010, 200), 410, "open", 100],
      [accept(5020, { attempt: 2 }), 100, "open", 101],
      [progress(5030), 410, "open", 101],
      [heartbeat(5030), 410, "open", 101],
      [result(5040, 200, { attempt: 2, digest: SECOND }), 100, "completed", 200],
    ],
    ["closed:lease_lost", "closed:result"],
  ),
  life([59], "an offer to another agent than the handoff is addressed to", [
    OPEN,
    [offer(1000, "s"), 403, "open", 100],
    OFFERED,
  ]),
  life(
    [59],
    "an offer before its time",
    [
      ...BEGUN,
      [result(1020, 500, { ...RETRY, retry_after_ms: 5000 }), 100, "open", 500],
      [offer(6019), 403, "open", 500],
      [offer(6020), 100, "open", 100],
    ],
    ["closed:result", "offered"],
  ),
  life([58], "an acknowledgement of another digest", [
    ...BEGUN,
    DONE,
    [acknowledge(1040, { outcome: SECOND }), 409, "completed", 200],
    [acknowledge(1040), 100, "completed", 200],
    [acknowledge(1050), 201, "completed", 200],
  ]),
  life([58], "an acknowledgement before the end", [
    ...BEGUN,
    [acknowledge(1020), 403, "open", 101],
  ]),
  life([58], "an acknowledgement of a failure", [
    ...BEGUN,
    [result(1020, 500), 100, "failed", 500],
    [acknowledge(1030), 100, "failed", 500],
  ]),
];

const SILENCE: readonly Row[] = [
  life(
    [48, 52],
    "nobody takes the offer",
    [
      OPEN,
      OFFERED,
      [silent("unreachable", 1199), 403, "open", 100],
      [silent("unreachable", 1200), 100, "open", 503],
      [offer(9000), 100, "open", 100],
    ],
    ["closed:unreachable", "offered"],
  ),
  life([48], "an offer that nobody took was not lost", [
    OPEN,
    OFFERED,
    [silent("lease_lost", 1200), 403, "open", 100],
  ]),
  life(
    [48],
    "taken, and silent for the time of grace",
    [
      OPEN,
      OFFERED,
      [taken(1050), 100, "open", 100],
      [silent("unreachable", 1200), 403, "open", 100],
      [silent("lease_lost", 1149), 403, "open", 100],
      [silent("lease_lost", 1150), 100, "open", 502],
    ],
    ["closed:lease_lost"],
  ),
  life(
    [48],
    "accepted, and silent for its lease",
    [
      ...BEGUN,
      [silent("lease_lost", 1309), 403, "open", 101],
      [silent("lease_lost", 1310), 100, "open", 502],
    ],
    ["closed:lease_lost"],
  ),
  life([48], "a heartbeat and progress keep the lease", [
    ...BEGUN,
    [heartbeat(1200), 100, "open", 101],
    [silent("lease_lost", 1310), 403, "open", 101],
    [progress(1400), 100, "open", 102],
    [silent("lease_lost", 1500), 403, "open", 102],
    [silent("lease_lost", 1700), 100, "open", 502],
  ]),
  life(
    [49],
    "while a question is open the lease is suspended",
    [
      ...BEGUN,
      [question(1100), 100, "open", 103],
      [silent("lease_lost", 50_000), 403, "open", 103],
      [answer(50_000), 100, "open", 102],
      [silent("lease_lost", 50_299), 403, "open", 102],
      [silent("lease_lost", 50_300), 100, "open", 502],
    ],
    ["closed:lease_lost"],
  ),
  life([49], "the last of two answers starts the lease anew", [
    ...BEGUN,
    [question(1100, ["q", "p"]), 100, "open", 103],
    [answer(2000, "q"), 100, "open", 103],
    [silent("lease_lost", 9000), 403, "open", 103],
    [answer(9000, "p"), 100, "open", 102],
    [silent("lease_lost", 9300), 100, "open", 502],
  ]),
  life(
    [49, 55],
    "a question that nobody answers ends at the deadline",
    [
      ...BEGUN,
      [question(1100), 100, "open", 103],
      [expire(DEADLINE), 100, "dead_lettered", 504],
      [answer(DEADLINE + 1), 410, "dead_lettered", 504],
    ],
    ["closed:superseded"],
  ),
  life([50], "an answer to a question that was not asked", [
    ...BEGUN,
    [answer(1020), 403, "open", 101],
    [question(1030), 100, "open", 103],
    [answer(1040, "p"), 403, "open", 103],
  ]),
  life([50], "a second answer", [
    ...BEGUN,
    [question(1030, ["q", "p"]), 100, "open", 103],
    [answer(1040), 100, "open", 103],
    [answer(1050), 201, "open", 103],
    [answer(1050, "q", { digest: SECOND }), 410, "open", 103],
  ]),
];

const PAUSES: readonly Row[] = [
  life(
    [51, 59],
    "a pause, its answer, and the same agent again",
    [
      ANY,
      OFFERED,
      ACCEPTED,
      [pause(1100), 100, "open", 103],
      [offer(2000), 403, "open", 103],
      [answer(3000), 100, "open", 100],
      [offer(3001, "s"), 403, "open", 100],
      [offer(3001), 100, "open", 100],
      [result(3010, 200, { attempt: 2 }), 100, "completed", 200],
    ],
    ["closed:paused", "closed:result"],
  ),
  life(
    [51],
    "a pause with two questions waits for both",
    [
      ...BEGUN,
      [pause(1100, ["q", "p"]), 100, "open", 103],
      [answer(2000, "p"), 100, "open", 103],
      [offer(2001), 403, "open", 103],
      [answer(3000, "q"), 100, "open", 100],
      [offer(3001), 100, "open", 100],
    ],
    ["closed:paused", "offered"],
  ),
  life([47, 51], "a result of the attempt that paused", [
    ...BEGUN,
    [pause(1100), 100, "open", 103],
    [result(1200, 200), 410, "open", 103],
  ]),
  life(
    [51, 57],
    "a cancellation while paused",
    [...BEGUN, [pause(1100), 100, "open", 103], [cancel(1200), 100, "cancelled", 499]],
    ["closed:paused"],
  ),
  life([51, 55], "a pause that nobody answers ends at the deadline", [
    ...BEGUN,
    [pause(1100), 100, "open", 103],
    [expire(DEADLINE), 100, "dead_lettered", 504],
  ]),
  life([51, 52], "a pause uses up no try", [
    limited(1),
    OFFERED,
    ACCEPTED,
    [pause(1100), 100, "open", 103],
    [answer(2000), 100, "open", 100],
    [offer(2001), 100, "open", 100],
    [result(2010, 200, { attempt: 2 }), 100, "completed", 200],
  ]),
];

const TRIES: readonly Row[] = [
  life(
    [52, 224],
    "released attempts use up no try",
    [
      limited(1),
      OFFERED,
      [release(1010, 300), 100, "open", 300],
      [offer(9000), 100, "open", 100],
      [accept(9010, { attempt: 2 }), 100, "open", 101],
      [release(9020, 301, { attempt: 2 }), 100, "open", 301],
      [offer(20_000), 100, "open", 100],
      [result(20_010, 200, { attempt: 3 }), 100, "completed", 200],
    ],
    ["closed:released", "closed:released", "closed:result"],
  ),
  life([52], "an unreachable recipient uses up no try", [
    limited(1),
    OFFERED,
    [silent("unreachable", 1200), 100, "open", 503],
    [offer(9000), 100, "open", 100],
    [result(9010, 200, { attempt: 2 }), 100, "completed", 200],
  ]),
  life(
    [52, 56],
    "a rejection uses up no try",
    [
      limited(1, null),
      OFFERED,
      [reject(1010, 404), 100, "open", 404],
      [offer(9000, "s"), 100, "open", 100],
      [result(9010, 200, { by: "s", attempt: 2 }), 100, "completed", 200],
    ],
    ["closed:rejected", "closed:result"],
  ),
  life(
    [52, 53],
    "failures that may be tried again, until the tries are used up",
    [
      limited(2),
      OFFERED,
      ACCEPTED,
      [result(1020, 500, RETRY), 100, "open", 500],
      [offer(9000), 100, "open", 100],
      [result(9010, 500, { ...RETRY, attempt: 2, digest: SECOND }), 100, "failed", 500],
      [result(9020, 500, { ...RETRY, attempt: 2, digest: SECOND }), 201, "failed", 500],
    ],
    ["closed:result", "closed:result"],
  ),
  life(
    [52, 53],
    "lost leases, until the tries are used up",
    [
      limited(2),
      OFFERED,
      ACCEPTED,
      [silent("lease_lost", 1310), 100, "open", 502],
      [offer(9000), 100, "open", 100],
      [accept(9010, { attempt: 2 }), 100, "open", 101],
      [silent("lease_lost", 9310, 2), 100, "dead_lettered", 508],
    ],
    ["closed:lease_lost", "closed:lease_lost"],
  ),
  life(
    [52, 53],
    "interruptions, until the tries are used up",
    [
      limited(2),
      OFFERED,
      ACCEPTED,
      [result(1020, 501), 100, "open", 501],
      [offer(9000), 100, "open", 100],
      [result(9010, 501, { attempt: 2 }), 100, "dead_lettered", 508],
    ],
    ["closed:interrupted", "closed:interrupted"],
  ),
  life([53], "a verdict and then silence", [
    limited(2),
    OFFERED,
    ACCEPTED,
    [result(1020, 500, RETRY), 100, "open", 500],
    [offer(9000), 100, "open", 100],
    [accept(9010, { attempt: 2 }), 100, "open", 101],
    [silent("lease_lost", 9310, 2), 100, "dead_lettered", 508],
  ]),
  life([53], "silence and then a verdict", [
    limited(2),
    OFFERED,
    ACCEPTED,
    [silent("lease_lost", 1310), 100, "open", 502],
    [offer(9000), 100, "open", 100],
    [result(9010, 500, { ...RETRY, attempt: 2 }), 100, "failed", 500],
  ]),
  life([54], "500 without a word on trying again", [
    ...BEGUN,
    [result(1020, 500), 100, "failed", 500],
  ]),
  life([54], "500 that may not be tried again", [
    ...BEGUN,
    [result(1020, 500, NO_RETRY), 100, "failed", 500],
  ]),
  life([54], "500 that may be tried again", [
    ...BEGUN,
    [result(1020, 500, RETRY), 100, "open", 500],
  ]),
  life([54], "424 without a word on trying again", [
    ...BEGUN,
    [result(1020, 424), 100, "failed", 424],
  ]),
  life([54], "424 that may be tried again", [
    ...BEGUN,
    [result(1020, 424, RETRY), 100, "open", 424],
  ]),
  life([54], "520 is tried again once", [
    ...BEGUN,
    [result(1020, 520), 100, "open", 520],
    [offer(9000), 100, "open", 100],
    [result(9010, 520, { attempt: 2, digest: SECOND }), 100, "failed", 520],
  ]),
  life([54], "520 that may not be tried again", [
    ...BEGUN,
    [result(1020, 520, NO_RETRY), 100, "failed", 520],
  ]),
  life(
    [54],
    "501 that may not be tried again is a verdict",
    [...BEGUN, [result(1020, 501, NO_RETRY), 100, "failed", 501]],
    ["closed:result"],
  ),
  life([54], "422 that says it may be tried again", [
    ...BEGUN,
    [result(1020, 422, RETRY), 100, "failed", 422],
  ]),
  life([54], "499 as a result", [...BEGUN, [result(1020, 499, RETRY), 100, "failed", 499]]),
  life([52, 54], "an attempt is tried again with what the recipient asked for", [
    ...BEGUN,
    [release(1020, 301, { retry_after_ms: 60_000 }), 100, "open", 301],
    [offer(61_019), 403, "open", 301],
    [offer(61_020), 100, "open", 100],
  ]),
];

const REJECTIONS: readonly Row[] = [
  ...[403, 404, 406].map((status) =>
    life(
      [56],
      `${status} by the recipient that was named`,
      [
        OPEN,
        OFFERED,
        [reject(1010, status), 100, "failed", status],
        [reject(1020, status), 201, "failed", status],
      ],
      ["closed:rejected"],
    ),
  ),
  ...[403, 404, 406].map((status) =>
    life(
      [56],
      `${status} by a recipient that the hub picked`,
      [
        ANY,
        OFFERED,
        [reject(1010, status), 100, "open", status],
        [offer(9000, "s"), 100, "open", 100],
        [accept(9010, { by: "s", attempt: 2 }), 100, "open", 101],
      ],
      ["closed:rejected", "accepted"],
    ),
  ),
  ...[409, 413, 422].map((status) =>
    life([56], `${status} by a recipient that the hub picked ends it`, [
      ANY,
      OFFERED,
      [reject(1010, status), 100, "failed", status],
    ]),
  ),
  life(
    [56],
    "a rejection after the acceptance",
    [...BEGUN, [reject(1020, 422), 403, "open", 101]],
    ["accepted"],
  ),
];

export const LIFECYCLES: VectorFile = vectorFile(
  "lifecycles",
  "lifecycle",
  "Events of one handoff in order, and after each the reply, the state and the status.",
  [...CUSTODY, ...ENDS, ...RIGHTS, ...SILENCE, ...PAUSES, ...TRIES, ...REJECTIONS],
);
