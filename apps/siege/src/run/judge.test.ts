import { expect, test } from "vitest";
import type { PhaseReport } from "../honest/messages.ts";
import type { Facts } from "./facts.ts";
import { isLatency, judge, mayBeOfABusyMachine, mayBeOfANoisyMachine } from "./judge.ts";
import type { Problem } from "./judge.ts";

const PHASE: PhaseReport = {
  made: 10,
  completed: 10,
  refused: 0,
  wrong: [],
  p50: 5,
  p99: 20,
  max: 20,
  ownDelay: 1,
};
const GOOD: Facts = {
  quietP99: 10,
  attacked: PHASE,
  afterwards: PHASE,
  restarted: PHASE,
  loopDelay: 20,
  peakMb: 200,
  answers: true,
  answersAgain: true,
  newcomer: 50,
  restart: 500,
  restartedMb: 200,
  crashes: 0,
  lastWords: "",
  tally: { sent: 3 },
  reasons: {},
  faults: [],
  found: [],
};

const judged = (facts: Partial<Facts>, never: string[] = []): readonly string[] =>
  judge({ ...GOOD, ...facts }, { lands: ["sent"], never }).map(({ says }) => says);

test("an unaffected hub has no problem", () => {
  expect(judged({})).toEqual([]);
});

test("the bound of the honest p99 is 500 ms, or twenty times that of a slow quiet phase", () => {
  expect(judged({ attacked: { ...PHASE, p99: 500 } })).toEqual([]);
  expect(judged({ attacked: { ...PHASE, p99: 501 } })).toHaveLength(1);
  expect(judged({ attacked: { ...PHASE, p99: 501 }, quietP99: 30 })).toEqual([]);
  expect(judged({ attacked: { ...PHASE, p99: 601 }, quietP99: 30 })).toHaveLength(1);
});

test.each<[string, Partial<Facts>, string[]?]>([
  ["memory", { peakMb: 513 }],
  ["memory after the restart", { restartedMb: 513 }],
  ["a crash", { crashes: 1 }],
  ["a hub that does not answer", { answers: false }],
  ["a hub that does not answer after its restart", { answersAgain: false }],
  ["a slow restart", { restart: 10_001 }],
  ["a newcomer without a result", { newcomer: Infinity }],
  ["a newcomer with a late result", { newcomer: 10_001 }],
  ["a lost handoff during the attack", { attacked: { ...PHASE, completed: 9 } }],
  ["a lost handoff after it", { afterwards: { ...PHASE, completed: 9 } }],
  ["a lost handoff after the restart", { restarted: { ...PHASE, completed: 9 } }],
  ["no handoff at all", { restarted: { ...PHASE, made: 0, completed: 0 } }],
  ["a handoff that is refused", { attacked: { ...PHASE, completed: 9, refused: 1 } }],
  ["a fault of the attack's program", { faults: ["TypeError"] }],
  ["what the class itself found", { found: ["it says ok"] }],
  ["an attack that got nowhere", { tally: {} }],
  ["what must not happen", { tally: { sent: 1, taken: 1 } }, ["taken"]],
])("%s is a problem", (_name, facts, never) => {
  expect(judged(facts, never)).toHaveLength(1);
});

const kindsOf = (facts: Partial<Facts>, never: string[] = []): readonly string[] =>
  judge({ ...GOOD, ...facts }, { lands: ["sent"], never }).map(({ of }) => of);

test("each problem has its kind", () => {
  expect(kindsOf({ attacked: { ...PHASE, p99: 501 } })).toEqual(["time"]);
  expect(kindsOf({ newcomer: 10_001 })).toEqual(["time"]);
  expect(kindsOf({ newcomer: Infinity })).toEqual(["newcomer"]);
  expect(kindsOf({ tally: {} })).toEqual(["reach"]);
  expect(kindsOf({ peakMb: 513 })).toEqual(["memory"]);
  expect(kindsOf({ crashes: 1 })).toEqual(["safety"]);
  expect(kindsOf({ attacked: { ...PHASE, completed: 9 } })).toEqual(["safety"]);
  expect(kindsOf({ tally: { sent: 1, taken: 1 } }, ["taken"])).toEqual(["safety"]);
});

const KINDS: readonly Problem["of"][] = ["time", "memory", "reach", "newcomer", "safety"];

const KIND_PROBLEMS = KINDS.map((of) => ({ of, says: "" }));

test("lateness, newcomers and reach get a second run; memory, crashes and losses get none", () => {
  const tried = KIND_PROBLEMS.filter(mayBeOfABusyMachine).map(({ of }) => of);
  expect(tried).toEqual(["time", "reach", "newcomer"]);
});

test("on a noisy machine memory gets a second run too; crashes and losses get none", () => {
  const tried = KIND_PROBLEMS.filter(mayBeOfANoisyMachine).map(({ of }) => of);
  expect(tried).toEqual(["time", "memory", "reach", "newcomer"]);
});

test("only latency may be reported without being judged: an attack that proves nothing always fails", () => {
  expect(KIND_PROBLEMS.filter(isLatency).map(({ of }) => of)).toEqual(["time"]);
});

test("without disk space a handoff may be refused, and none that was taken may be lost", () => {
  const full = { lands: [], hub: { diskBytes: [1, 2] as const } };
  const refused = { ...PHASE, p99: 60_000, completed: 9, refused: 1 };
  expect(judge({ ...GOOD, attacked: refused }, full)).toEqual([]);
  expect(judge({ ...GOOD, attacked: { ...PHASE, completed: 9 } }, full)).toHaveLength(1);
});
