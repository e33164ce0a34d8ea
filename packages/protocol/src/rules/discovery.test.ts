import { describe, expect, test } from "vitest";
import { isSuccess, wilsonLowerBound } from "../discovery/reliability.ts";
import {
  eventOf,
  findCandidates,
  isEjected,
  judgeInput,
  NO_STATS,
  queuePlace,
  recordOutcome,
  refusalText,
  step,
} from "../hub.ts";
import { judgeCounter, judgeOffer, parseManifest, termsOf } from "../index.ts";
import type { Candidate, InputJudgement, ReliabilityStats } from "../hub.ts";
import type { Capability, FindQuery, StatusCode } from "../index.ts";
import { eventFrom, HANDOFF, OTHER, stateAfter } from "../lifecycle/lifecycle-fixture.ts";
import { NOW, RE, readWith } from "./rules-fixture.ts";

function capability(members: Partial<Capability> = {}): Capability {
  const input_schema = { query: "string" };
  const { capabilities } = parseManifest({
    agent_id: "a",
    capabilities: [
      { name: "search", version: "1.2", tags: ["web", "fast"], input_schema, ...members },
    ],
  });
  return capabilities[0]!;
}

function candidate(agent_id: string, members: Partial<Candidate> = {}): Candidate {
  const trust = { isTrusted: true, by: "pin", reason: "it is pinned" } as const;
  return { agent_id, capability: capability(), trust, ...members };
}

function statsOf(successes: number, failures: number): ReliabilityStats {
  return { ...NO_STATS, successes, failures };
}

describe("a candidate", () => {
  const wanted = {
    capability: "search",
    version: "1",
    tags: ["web"],
    input: { query: "waybills" },
  };
  const untrusted = { isTrusted: false, by: "nothing", status: 401, reason: "unknown" } as const;
  const outside: [string, Partial<FindQuery>, Partial<Candidate>, RegExp][] = [
    ["is not trusted", {}, { trust: untrusted }, /not trusted: unknown/],
    ["does not offer the capability", { capability: "write" }, {}, /offers search, not write/],
    ["does not offer the version", { version: "2" }, {}, /version 1\.2, and 2/],
    ["has a version that only starts alike", { version: "1.20" }, {}, /1\.20 is wanted/],
    ["lacks a tag", { tags: ["web", "deep"] }, {}, /tags deep/],
    ["has a schema that the input breaks", { input: { query: 7 } }, {}, /schema at \/query/],
    ["has a schema for other members", { input: {} }, {}, /breaks its schema/],
  ];

  test("WB-71 that fits is found", () => {
    const { fits, leftOut } = findCandidates(wanted, [candidate("a")], NOW);
    expect([fits.map(({ agent_id }) => agent_id), leftOut]).toEqual([["a"], []]);
  });

  test.each(outside)("WB-71 that %s is left out, with the reason", (_, query, members, reason) => {
    const { fits, leftOut } = findCandidates(
      { ...wanted, ...query },
      [candidate("a", members)],
      NOW,
    );
    expect(fits).toEqual([]);
    expect(leftOut).toHaveLength(1);
    expect(leftOut[0]).toMatchObject({ agent_id: "a", capability: "search", version: "1.2" });
    expect(leftOut[0]!.reasons.join("\n")).toMatch(reason);
  });

  test("WB-71 is left out with all its reasons, not only the first", () => {
    const query = { ...wanted, version: "2", tags: ["deep"], input: {} };
    const { leftOut } = findCandidates(query, [candidate("a", { trust: untrusted })], NOW);
    expect(leftOut[0]!.reasons).toHaveLength(4);
  });
});

describe("the budget of a query", () => {
  const schema = (lengths: number, title = "") => ({
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title,
    allOf: Array.from({ length: lengths }, () => ({ minLength: 1 })),
  });
  const asking = (agent_id: string, input_schema: Capability["input_schema"], version = "1") =>
    candidate(agent_id, { capability: capability({ input_schema, version }) });
  const query: FindQuery = { capability: "search", input: "x".repeat(80_000) };
  const costly = Array.from({ length: 100 }, (_, index) =>
    asking("a-costly", schema(250, `${index}`), `${index}`),
  );
  const plain = asking("b-plain", schema(1));
  const namesOf = (candidates: Candidate[], budget: { stepsLeft: number }) =>
    findCandidates(query, candidates, NOW, { budget }).fits.map(({ agent_id }) => agent_id);

  test("WB-92 is one for all candidates and versions, and names those that were not checked", () => {
    const budget = { stepsLeft: 3_000_000 };
    const { leftOut } = findCandidates(query, [...costly, plain], NOW, { budget });
    expect(budget.stepsLeft).toBeLessThanOrEqual(0);
    expect(budget.stepsLeft).toBeGreaterThan(-500_000);
    const reasons = new Set(leftOut.flatMap((each) => each.reasons));
    expect([...reasons]).toEqual(["not checked: the query's budget is used up"]);
  });

  test("WB-92 has a share for each schema before one of them gets more", () => {
    const others = ["a1", "a2", "a3"].map((id) => asking(id, schema(250, id)));
    expect(namesOf([...others, plain], { stepsLeft: 5_000_000 })).toContain("b-plain");
    expect(namesOf([...costly, plain], { stepsLeft: 5_000_000 })).toContain("b-plain");
  });

  test("WB-92 pays once for a schema that several candidates share", () => {
    const shared = schema(100);
    const alike = ["a", "b", "c", "d"].map((id) => asking(id, shared));
    const [one, all] = [{ stepsLeft: 10_000_000 }, { stepsLeft: 10_000_000 }];
    expect(namesOf(alike.slice(0, 1), one)).toEqual(["a"]);
    expect(namesOf(alike, all)).toEqual(["a", "b", "c", "d"]);
    expect(all.stepsLeft).toBe(one.stepsLeft);
  });
});

describe("an input", () => {
  const schema = { query: "string", depth: "int" };
  const taking = (agent_id: string, members: Partial<Capability> = {}, more = {}) =>
    candidate(agent_id, { capability: capability({ input_schema: schema, ...members }), ...more });
  const wrong = { query: "tides", depth: "2" };
  const placesOf = ({ refusals }: InputJudgement) =>
    refusals.map(({ agent_id, issues }) => [agent_id, ...issues.map(({ at }) => at)]);

  test("WB-100 that every candidate refuses is refused, each with the place and the expectation", () => {
    const judged = judgeInput({ input: wrong }, [taking("a"), taking("b", { max_input_bytes: 5 })]);
    expect(judged.mayBeTaken).toBe(false);
    expect(placesOf(judged)).toEqual([
      ["a", "/depth"],
      ["b", ""],
    ]);
    expect(refusalText(judged.refusals)).toMatch(
      /^a refuses the input: \/depth: .*integer.*b refuses/,
    );
    expect(refusalText([judged.refusals[0]!, { ...judged.refusals[0]!, agent_id: "c" }])).toMatch(
      /^a and c refuse the input/,
    );
  });

  test("WB-100 that one candidate takes is refused by none", () => {
    const open = taking("b", { input_schema: { query: "string" } });
    expect(judgeInput({ input: wrong }, [taking("a"), open])).toEqual({
      mayBeTaken: true,
      refusals: [],
    });
  });

  test("WB-100 that only untrusted agents and other versions take is refused", () => {
    const untrusted = { isTrusted: false, by: "nothing", status: 401, reason: "unknown" } as const;
    const others = [
      taking("b", { input_schema: {} }, { trust: untrusted }),
      taking("c", { input_schema: {}, version: "2" }),
      taking("d", { input_schema: {}, tags: [] }),
    ];
    const given = { input: wrong, version: "1", tags: ["web"] };
    expect(placesOf(judgeInput(given, [taking("a"), ...others]))).toEqual([["a", "/depth"]]);
    expect(judgeInput(given, others)).toEqual({ mayBeTaken: false, refusals: [] });
  });

  test("WB-100 that the budget did not suffice for is refused by none", () => {
    const judged = judgeInput({ input: wrong }, [taking("a")], { budget: { stepsLeft: 1 } });
    expect(judged).toEqual({ mayBeTaken: true, refusals: [] });
  });

  test("WB-100 that is missing is refused if it is needed and words do not suffice", () => {
    const talker = taking("b", { takes: "conversation" });
    expect(placesOf(judgeInput({}, [taking("a"), talker]))).toEqual([
      ["a", ""],
      ["b", ""],
    ]);
    expect(judgeInput({ hasWords: true }, [taking("a"), talker]).mayBeTaken).toBe(true);
    expect(judgeInput({ hasWords: true }, [taking("a")]).mayBeTaken).toBe(false);
  });
});

describe("waiting work", () => {
  const orderOf = (waiting: Record<string, [dueAt: number, priority?: number]>) =>
    Object.keys(waiting).toSorted(
      (a, b) => queuePlace(...waiting[a]!) - queuePlace(...waiting[b]!),
    );

  test("WB-102 is offered by its priority, 4 by default, and then by when it was due", () => {
    const waiting = { low: [0, 0], usual: [2], first: [1], urgent: [3, 9] } as const;
    expect(orderOf(waiting as never)).toEqual(["urgent", "first", "usual", "low"]);
  });

  test("WB-102 is not overtaken by work that is due nine minutes later", () => {
    expect(orderOf({ old: [0, 0], late: [540_001, 9] })).toEqual(["old", "late"]);
    expect(orderOf({ old: [0, 0], soon: [539_999, 9] })).toEqual(["soon", "old"]);
  });
});

test("WB-101 is not offered before its start time, and its deadline applies all the same", () => {
  const held = stateAfter({ type: "submit", notBefore: 5_000 });
  const early = eventFrom({ type: "offer", at: 4_999 });
  expect(step(held, early)).toEqual({ state: held, effects: [{ type: "reply", status: 403 }] });
  expect(step(held, eventFrom({ type: "offer", at: 5_000 })).state!.attempts).toHaveLength(1);
  const expired = step(held, eventFrom({ type: "expire", at: held.deadline }));
  expect(expired.state).toMatchObject({ state: "dead_lettered", status: 504 });
});

test("WB-101 with a start time at or after its deadline is refused with 400", () => {
  const deadline = new Date(NOW + 60_000).toISOString();
  const withStart = (not_before: string) => () => readWith("handoff", { deadline, not_before });
  expect(withStart(new Date(NOW + 59_999).toISOString())().envelope).toMatchObject({ deadline });
  expect(withStart(deadline)).toThrow(expect.objectContaining({ status: 400, at: "/not_before" }));
});

describe("the rank", () => {
  const ranked = (...candidates: Candidate[]) =>
    findCandidates({ capability: "search" }, candidates, NOW).fits;
  const names = (...candidates: Candidate[]) =>
    ranked(...candidates).map(({ agent_id }) => agent_id);
  const claiming = (reliability_sla: number) => ({ capability: capability({ reliability_sla }) });

  test("WB-72 is by the Wilson lower bound of the measured success rate", () => {
    const good = candidate("good", { stats: statsOf(95, 5) });
    const few = candidate("few", { stats: statsOf(3, 0) });
    const poor = candidate("poor", { stats: statsOf(50, 50) });
    expect(names(poor, few, good)).toEqual(["good", "few", "poor"]);
    // From published tables: 95 of 100 at z = 1.96 gives 0.8882.
    expect(wilsonLowerBound(95, 100)).toBeCloseTo(0.8882, 4);
    // Every agent starts with three successes and a failure.
    expect(ranked(good)[0]!.reliability).toBeCloseTo(wilsonLowerBound(98, 104), 4);
  });

  test("WB-72 is not improved by a claim that measurement contradicts", () => {
    const stats = statsOf(6, 4);
    const others = [0.05, 0.2, 0.3, 0.6].map((share, index) =>
      candidate(`other-${index}`, {
        stats: statsOf(Math.round(share * 200), 200 - Math.round(share * 200)),
      }),
    );
    const placeWith = (claim: number) =>
      names(candidate("it", { stats, ...claiming(claim) }), ...others).indexOf("it");
    const honest = placeWith(0);
    for (const claim of [0.9, 0.99, 1]) {
      expect(placeWith(claim), `claim ${claim}`).toBeGreaterThanOrEqual(honest);
      const boaster = candidate("it", { stats, ...claiming(claim) });
      expect(ranked(boaster)[0]!.reliability).toBe(wilsonLowerBound(9, 14));
    }
    // Nor does a claim without measurements outrank a record.
    expect(
      names(candidate("new", claiming(1)), candidate("old", { stats: statsOf(20, 1) })),
    ).toEqual(["old", "new"]);
    const newcomers = [candidate("b", claiming(1)), candidate("a", claiming(0))];
    expect(names(...newcomers)).toEqual(["a", "b"]);
    for (const { reliability } of ranked(...newcomers)) {
      expect(reliability).toBe(wilsonLowerBound(3, 4));
    }
  });

  test("WB-72 says of each candidate why it is behind the one before it", () => {
    const poor = candidate("poor", { stats: statsOf(20, 80), inFlight: 0, credit: 4 });
    const good = candidate("good", { stats: statsOf(99, 1), inFlight: 0, credit: 4 });
    const busy = candidate("busy", { stats: statsOf(99, 1), inFlight: 3, credit: 1 });
    const away = candidate("zz-away", { stats: statsOf(99, 1) });
    expect(
      ranked(poor, away, busy, good).map(({ agent_id, behind }) => [agent_id, behind]),
    ).toEqual([
      ["good", undefined],
      ["busy", "fewer of its places are free"],
      ["zz-away", "fewer of its places are free"],
      ["poor", "what was measured of it is clearly worse"],
    ]);
  });

  test("WB-72 gives a trial to a clearly worse agent that is idle and has had no outcome for 30 seconds", () => {
    const good = candidate("good", { stats: statsOf(99, 1) });
    const tried = (measuredAt: number, inFlight = 0) => {
      const stats = { ...statsOf(2, 30), measuredAt };
      const [, behind] = ranked(good, candidate("poor", { stats, inFlight, credit: 4 }));
      return [behind!.standing, behind!.isDueForTrial === true];
    };
    expect(tried(NOW - 30_000)).toEqual(["worse", true]);
    expect(tried(NOW - 29_999)).toEqual(["worse", false]);
    expect(tried(NOW - 30_000, 1)).toEqual(["worse", false]);
  });

  test("WB-72 counts only the outcomes that the recipient caused", () => {
    const its: StatusCode[] = [500, 501, 502, 503, 520];
    const others: StatusCode[] = [400, 401, 403, 404, 406, 409, 413, 422, 424, 499];
    for (const status of its) expect(isSuccess({ status, at: NOW }), `${status}`).toBe(false);
    for (const status of others) {
      expect(recordOutcome(NO_STATS, { status, at: NOW }), `${status}`).toBe(NO_STATS);
    }
    expect(recordOutcome(NO_STATS, { status: 200, at: NOW })).toMatchObject({
      successes: 1,
      failures: 0,
    });
    const late = { status: 504, at: NOW, closed: "superseded" } as const;
    expect(isSuccess(late)).toBeUndefined();
    expect(isSuccess({ ...late, isAccepted: true })).toBe(false);
  });
});

test("WB-73 puts a candidate behind all others for 30 s after three failures in a row, and longer after more", () => {
  let stats = NO_STATS;
  let at = NOW;
  const other = candidate("other", { stats: statsOf(1, 9) });
  const first = () =>
    findCandidates({ capability: "search" }, [candidate("a", { stats }), other], at).fits[0]!;
  const fail = () => (stats = recordOutcome(stats, { status: 500, at }));
  stats = recordOutcome({ ...NO_STATS, successes: 50 }, { status: 200, at });
  for (let count = 0; count < 2; count++) {
    fail();
    expect(first().agent_id).toBe("a");
  }
  const seconds: number[] = [];
  for (let round = 0; round < 5; round++) {
    fail();
    expect(first().agent_id).toBe("other");
    seconds.push((stats.ejectedUntil! - at) / 1000);
    at = stats.ejectedUntil! - 1;
    expect(first().agent_id).toBe("other");
    at++;
    expect(first().agent_id).toBe("a");
  }
  expect(seconds).toEqual([30, 60, 60, 60, 60]);
});

test("WB-73 still finds an ejected candidate if no other fits", () => {
  let stats = NO_STATS;
  for (let count = 0; count < 3; count++) {
    stats = recordOutcome(stats, { status: 500, at: NOW });
  }
  const { fits } = findCandidates({ capability: "search" }, [candidate("a", { stats })], NOW);
  expect(fits).toMatchObject([{ agent_id: "a", standing: "ejected" }]);
  expect(fits[0]!.reasons.join()).toContain("3 times in a row");
});

test("WB-73 ends an ejection with a success", () => {
  let stats = NO_STATS;
  for (let count = 0; count < 3; count++) {
    stats = recordOutcome(stats, { status: 500, at: NOW });
  }
  expect(isEjected(stats, NOW + 1)).toBe(true);
  stats = recordOutcome(stats, { status: 200, at: NOW + 1 });
  expect(isEjected(stats, NOW + 1)).toBe(false);
  const at = NOW + 2;
  for (let count = 0; count < 2; count++) {
    stats = recordOutcome(stats, { status: 500, at });
    expect(isEjected(stats, at)).toBe(false);
  }
  expect(recordOutcome(stats, { status: 500, at }).ejectedUntil).toBe(at + 30_000);
});

describe("a contract", () => {
  const terms = termsOf(capability({ timeout_seconds: 60, lease_seconds: 10, max_attempts: 2 }));
  const tight = { timeout_seconds: 5, max_attempts: 2 };

  test("WB-74 is accepted as it is offered", () => {
    for (const offer of [
      undefined,
      {},
      { timeout_seconds: 60 },
      { lease_seconds: 11, max_attempts: 1 },
    ]) {
      expect(judgeOffer(offer, terms)).toEqual({ verdict: "accept" });
    }
  });

  test("WB-74 is countered once, with the terms that the recipient would keep", () => {
    const verdict = judgeOffer(tight, terms);
    expect(verdict).toMatchObject({ verdict: "counter", contract: { ...terms, max_attempts: 2 } });
    const counter = verdict.verdict === "counter" ? verdict.contract : {};
    expect(judgeOffer(counter, terms)).toEqual({ verdict: "accept" });
    expect(judgeOffer(tight, terms, { hasCountered: true }).verdict).toBe("reject");
    expect(judgeCounter(counter, tight).verdict).toBe("reject");
    expect(judgeCounter(counter, tight, { timeout_seconds: 60 }).verdict).toBe("accept");
    const { envelope, digest } = readWith("receipt", { body: { status: 406, counter } });
    expect(envelope.body).toMatchObject({ counter });
    expect(eventOf(envelope, digest, NOW)).toMatchObject({ type: "reject", status: 406 });
  });

  test("WB-74 is bound for exactly the digest that the acceptance names", () => {
    const { envelope, digest } = readWith("receipt", { re: RE, body: { status: 101 } });
    expect(eventOf(envelope, digest, NOW)).toMatchObject({ type: "accept", re: RE });
    const offered = stateAfter({ type: "submit" }, { type: "offer" });
    const other = step(offered, eventFrom({ type: "accept", re: OTHER }));
    expect(other).toEqual({ state: offered, effects: [{ type: "reply", status: 409 }] });
    const accepted = step(offered, eventFrom({ type: "accept", re: HANDOFF }));
    expect(accepted.state!.attempts[0]).toMatchObject({ state: "accepted", status: 101 });
  });
});
