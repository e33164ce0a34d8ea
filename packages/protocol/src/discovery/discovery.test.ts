import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Wanted } from "../envelope/body.ts";
import { capabilitySchema } from "../manifest/capability.ts";
import { findCandidates, findInSlices, queryOf } from "./discovery.ts";
import type { Candidate, FindOptions, FindQuery, InputVerdicts } from "./discovery.ts";
import { ISSUES_SHOWN } from "./input-verdicts.ts";
import { WaybillError } from "../error.ts";
import { NO_STATS, wilsonLowerBound } from "./reliability.ts";
import type { ReliabilityStats } from "./reliability.ts";
import type { TrustDecision } from "../manifest/trust.ts";

const NOW = Date.parse("2026-11-18T07:45:00Z");
const trusted: TrustDecision = { isTrusted: true, by: "registry", reason: "known" };
const measured = (successes: number, failures: number): ReliabilityStats => ({
  ...NO_STATS,
  successes,
  failures,
});

function candidate(
  agent_id: string,
  capability: object = {},
  facts: Partial<Candidate> = {},
): Candidate {
  return {
    agent_id,
    capability: capabilitySchema().parse({
      name: "web_research",
      input_schema: {
        type: "object",
        properties: { query: { type: "string" }, depth: { type: "integer" } },
        required: ["query"],
      },
      reliability_sla: 0.9,
      ...capability,
    }),
    trust: trusted,
    ...facts,
  };
}

const order = (query: FindQuery, ...candidates: Candidate[]) =>
  findCandidates(query, candidates, NOW).fits.map(({ agent_id }) => agent_id);

const reasonsAgainst = (query: FindQuery, ...candidates: Candidate[]): readonly string[] =>
  findCandidates(query, candidates, NOW).leftOut.flatMap(({ reasons }) => reasons);

const research: FindQuery = { capability: "web_research" };

describe("a candidate is left out", () => {
  const cases: [string, Partial<FindQuery>, Candidate, RegExp][] = [
    [
      "another capability",
      {},
      candidate("a", { name: "poetry" }),
      /offers poetry, not web_research/,
    ],
    [
      "no trust",
      {},
      candidate(
        "a",
        {},
        {
          trust: { isTrusted: false, by: "nothing", status: 401, reason: "nothing vouches for a" },
        },
      ),
      /not trusted: nothing vouches for a/,
    ],
    ["another version", { version: "2" }, candidate("a", { version: "1.9" }), /version 1.9, and 2/],
    [
      "missing tags",
      { tags: ["fast", "cheap", "good"] },
      candidate("a", { tags: ["good"] }),
      /lacks the tags fast, cheap/,
    ],
    [
      "an input of another form",
      { input: { query: "x", depth: "deep" } },
      candidate("a"),
      /breaks its schema at \/depth: /,
    ],
    ["no input at all in it", { input: {} }, candidate("a"), /breaks its schema: .*query/],
    [
      "too large an input",
      { input: { query: "é".repeat(50) } },
      candidate("a", { max_input_bytes: 100 }),
      /input has 112 bytes, and it takes at most 100/,
    ],
    ["too little time", { within: 299 }, candidate("a"), /may need 300 s, and there are 299/],
    [
      "work up to its limit",
      {},
      candidate("a", { concurrency: 2 }, { inFlight: 2 }),
      /has 2 handoffs in progress, and takes 2 at once/,
    ],
    ["no credit", {}, candidate("a", {}, { credit: 0 }), /no credit left/],
    [
      "too poor a record",
      { minReliability: 0.8 },
      candidate("a", {}, { stats: measured(10, 0) }),
      /counts as 0.69, and 0.8 is wanted: 10 of 10/,
    ],
    [
      "no record",
      { minReliability: 0.8 },
      candidate("a"),
      /counts as 0.30, and 0.8 is wanted: no results measured yet/,
    ],
    [
      "a schema that can't be used",
      { input: {} },
      candidate("a", { input_schema: { $ref: "http://x/" } }),
      /its input schema can't be used/,
    ],
  ];

  test.each(cases)("%s", (_what, query, one, reason) => {
    const asked = { ...research, ...query };
    const { fits, leftOut } = findCandidates(asked, [one, candidate("b", { version: "2" })], NOW);
    expect(leftOut[0]).toMatchObject({ agent_id: "a", capability: one.capability.name });
    expect(leftOut[0]?.reasons).toHaveLength(1);
    expect(leftOut[0]?.reasons[0]).toMatch(reason);
    expect(fits.map(({ agent_id }) => agent_id)).not.toContain("a");
    expect(reasonsAgainst(asked, one)).toEqual(leftOut[0]?.reasons);
  });

  test("with every reason, not only the first", () => {
    const asked = { ...research, version: "2", tags: ["x"], within: 1 };
    expect(reasonsAgainst(asked, candidate("a"))).toHaveLength(3);
  });

  test("with a readable reason for a flood of faults in one input", () => {
    const input_schema = { type: "array", items: { type: "string" } };
    const asked = { ...research, input: Array.from({ length: 15 }, (_, index) => index) };
    const reasons = reasonsAgainst(asked, candidate("a", { input_schema }));
    expect(reasons).toHaveLength(ISSUES_SHOWN + 1);
    expect(reasons.at(-1)).toContain("12 more places");
  });
});

test("a candidate exactly at every bound fits", () => {
  const asked: FindQuery = {
    capability: "web_research",
    version: "^1.2",
    tags: ["good"],
    within: 300,
    minReliability: 0.68,
    input: { query: "é" },
  };
  const one = candidate(
    "a",
    { version: "1.2", tags: ["good", "fast"], max_input_bytes: 14, concurrency: 2 },
    { inFlight: 1, credit: 1, stats: { ...measured(10, 0), ejections: 1, ejectedUntil: NOW } },
  );
  expect(reasonsAgainst(asked, one)).toEqual([]);
});

test("a compiled schema that is passed in is used", () => {
  const inputSchema = { check: () => [{ at: "/x", keyword: "type", message: "from the cache" }] };
  const reasons = reasonsAgainst(
    { ...research, input: { query: "" } },
    candidate("a", {}, { inputSchema }),
  );
  expect(reasons).toEqual(["the input breaks its schema at /x: from the cache"]);
});

test("an input that is not JSON is the caller's mistake, not the candidates'", () => {
  const input = { query: NaN };
  expect(() => findCandidates({ ...research, input }, [], NOW)).toThrow(WaybillError);
});

describe("the order", () => {
  test("is by rough size of the terms for equal loads, and ignores small differences", () => {
    const fast = candidate("fast", { timeout_seconds: 30 }, { stats: measured(20, 1) });
    const sure = candidate("sure", { timeout_seconds: 300 }, { stats: measured(90, 0) });
    const alike = candidate("alike", { timeout_seconds: 299 }, { stats: measured(20, 1) });
    expect(order(research, sure, alike, fast)).toEqual(["fast", "sure", "alike"]);
  });

  test("is then by measured reliability, not by claims", () => {
    const modest = candidate("modest", { reliability_sla: 0.5 }, { stats: measured(50, 1) });
    const boastful = candidate("boastful", { reliability_sla: 0.99 }, { stats: measured(5, 0) });
    expect(order(research, boastful, modest)).toEqual(["modest", "boastful"]);
  });

  test("ignores a claim that measurement contradicts, and says so", () => {
    const liar = candidate("liar", { reliability_sla: 0.99 }, { stats: measured(60, 40) });
    const modest = candidate("modest", { reliability_sla: 0.1 }, { stats: measured(61, 39) });
    const newcomer = candidate("newcomer", { reliability_sla: 1 });
    const { fits } = findCandidates(research, [liar, newcomer, modest], NOW);
    expect(fits.map(({ agent_id, isContradicted }) => [agent_id, isContradicted])).toEqual([
      ["modest", false],
      ["liar", true],
      ["newcomer", false],
    ]);
    expect(fits[1]?.reasons.join()).toMatch(/60 of 100.*claim of 0.99.*counts for nothing/);
  });

  test("ranks an honest claim before a false one if the records are equal", () => {
    const liar = candidate("a-liar", { reliability_sla: 0.99 }, { stats: measured(60, 40) });
    const modest = candidate("modest", { reliability_sla: 0.1 }, { stats: measured(60, 40) });
    expect(order(research, liar, modest)).toEqual(["modest", "a-liar"]);
  });

  test("does not call a claim false after a handful of outcomes", () => {
    const unlucky = candidate("unlucky", { reliability_sla: 0.99 }, { stats: measured(0, 4) });
    const { fits } = findCandidates(research, [unlucky], NOW);
    expect(fits[0]).toMatchObject({ isContradicted: false, isMeasured: true });
  });

  test("ranks a newcomer before an agent that has proven nothing", () => {
    const failing = candidate("failing", {}, { stats: measured(0, 2) });
    expect(order(research, failing, candidate("newcomer"))).toEqual(["newcomer", "failing"]);
  });

  test("even a newcomer without a claim", () => {
    const failing = candidate("a-failing", {}, { stats: measured(0, 2) });
    const silent = candidate("newcomer", { reliability_sla: 0 });
    expect(order(research, failing, silent)).toEqual(["newcomer", "a-failing"]);
  });

  test("prefers the shorter of two similar terms between equals", () => {
    const slower = candidate("a", { timeout_seconds: 300 });
    const faster = candidate("b", { timeout_seconds: 299 });
    expect(order(research, slower, faster)).toEqual(["b", "a"]);
  });

  test("ends with what never changes: the agent's id by code units, then the version", () => {
    const alike = ["b", "a-2", "a", "a1"].map((id) => candidate(id));
    expect(order(research, ...alike)).toEqual(["a", "a-2", "a1", "b"]);
    const versions = ["1.0", "1"].map((version) => candidate("a", { version }));
    for (const given of [versions, versions.toReversed()]) {
      const { fits } = findCandidates(research, given, NOW);
      expect(fits.map(({ capability }) => capability.version)).toEqual(["1", "1.0"]);
    }
  });

  test("never ranks a newcomer above an agent that has only succeeded, whatever it claims", () => {
    const claims = fc.double({ min: 0, max: 1, noNaN: true });
    fc.assert(
      fc.property(claims, fc.integer({ min: 1, max: 2000 }), (claim, successes) => {
        const proven = candidate("z-proven", {}, { stats: measured(successes, 0) });
        const newcomer = candidate("a-newcomer", { reliability_sla: claim });
        expect(order(research, newcomer, proven)[0]).toBe("z-proven");
      }),
    );
  });

  test("puts more free room before more reliability, and says so", () => {
    const busy = candidate("busy", {}, { stats: measured(50, 0), inFlight: 12, credit: 4 });
    const idle = candidate("idle", {}, { stats: measured(20, 0), inFlight: 0, credit: 16 });
    const away = candidate("away", {}, { stats: measured(500, 0) });
    const { fits } = findCandidates(research, [away, busy, idle], NOW);
    expect(fits.map(({ agent_id }) => agent_id)).toEqual(["idle", "busy", "away"]);
    expect(fits.map(({ reasons }) => reasons.at(-1))).toEqual([
      "0 in progress, room for 16 more",
      "12 in progress, room for 4 more",
      "it is not connected: work waits until it is",
    ]);
  });

  test("puts a clearly less reliable agent behind, however idle it is", () => {
    const poor = candidate("poor", {}, { stats: measured(50, 50), inFlight: 0, credit: 16 });
    const good = candidate("good", {}, { stats: measured(100, 0), inFlight: 15, credit: 1 });
    const { fits } = findCandidates(research, [poor, good], NOW);
    expect(fits.map(({ agent_id, standing }) => [agent_id, standing])).toEqual([
      ["good", "good"],
      ["poor", "worse"],
    ]);
    expect(fits[1]?.reasons).toContain("others are more reliable");
  });

  test("puts an agent with several failures in a row last, and says until when", () => {
    const out = {
      ...measured(900, 3),
      consecutiveFailures: 3,
      ejectedUntil: NOW + 1,
    };
    const ejected = candidate("a-ejected", {}, { stats: out, inFlight: 0, credit: 16 });
    const poor = candidate("poor", {}, { stats: measured(1, 9), inFlight: 15, credit: 1 });
    const { fits } = findCandidates(research, [ejected, poor], NOW);
    expect(fits.map(({ agent_id, standing }) => [agent_id, standing])).toEqual([
      ["poor", "good"],
      ["a-ejected", "ejected"],
    ]);
    expect(fits[1]?.reasons.join()).toContain(
      "failed 3 times in a row, and comes after all others until 2026-11-18T07:45:00.001Z",
    );
    expect(order(research, candidate("a", {}, { stats: { ...out, ejectedUntil: NOW } }))).toEqual([
      "a",
    ]);
  });

  test("puts the newer version of the same agent first", () => {
    const found = findCandidates(
      research,
      [candidate("a", { version: "1.9" }), candidate("a", { version: "2" })],
      NOW,
    );
    expect(found.fits.map(({ capability }) => capability.version)).toEqual(["2", "1.9"]);
  });

  const anyCandidate = fc
    .record({
      id: fc.constantFrom("a", "b", "c", "d"),
      version: fc.constantFrom("1", "1.0", "1.9", "1.10", "beta"),
      timeout_seconds: fc.constantFrom(0.1, 1, 60, 64, 65, 300),
      reliability_sla: fc.constantFrom(0, 0.5, 0.95, 1),
      stats: fc.option(
        fc.tuple(fc.nat(30), fc.nat(30)).map(([s, f]) => measured(s, f)),
        { nil: undefined },
      ),
      isFull: fc.boolean(),
    })
    .map(({ id, stats, isFull, ...capability }) =>
      candidate(id, capability, { stats, credit: isFull ? 0 : 1 }),
    );

  test("is total, and does not depend on the order of the input", () => {
    const distinct = fc.uniqueArray(anyCandidate, {
      maxLength: 12,
      selector: ({ agent_id, capability }) => `${agent_id} ${capability.version}`,
    });
    const shuffled = distinct.chain((candidates) =>
      fc.tuple(
        fc.constant(candidates),
        fc.shuffledSubarray(candidates, { minLength: candidates.length }),
      ),
    );
    fc.assert(
      fc.property(shuffled, ([candidates, others]) => {
        const found = findCandidates(research, candidates, NOW);
        expect(findCandidates(research, others, NOW)).toEqual(found);
        expect(found.fits.length + found.leftOut.length).toBe(candidates.length);
        for (const [index, fit] of found.fits.entries()) {
          const next = found.fits[index + 1];
          if (next?.capability.timeout_seconds !== fit.capability.timeout_seconds) continue;
          if (next.standing !== fit.standing || next.credit !== fit.credit) continue;
          expect(fit.reliability).toBeGreaterThanOrEqual(next.reliability);
        }
      }),
    );
  });
});

describe("the query of a handoff to a capability", () => {
  const wanted = {
    capability: "web_research",
    version: "1",
    tags: ["good"],
    min_reliability: 0.5,
  };
  const good = candidate("a", { tags: ["good"] }, { stats: measured(20, 0) });

  test("finds what the hub's own query finds", () => {
    expect(queryOf(wanted, { within: 5, input: null })).toEqual({
      capability: "web_research",
      version: "1",
      tags: ["good"],
      minReliability: 0.5,
      within: 5,
      input: null,
    });
  });

  test("fits, or does not, for each thing it asks", () => {
    const fits = (asked: Wanted, handoff?: Pick<FindQuery, "input" | "within">): boolean =>
      reasonsAgainst(queryOf(asked, handoff), good).length === 0;
    expect(wilsonLowerBound(20, 20)).toBeGreaterThan(0.5);
    expect(fits(wanted)).toBe(true);
    expect(fits(wanted, { within: 299 })).toBe(false);
    expect(fits(wanted, { input: {} })).toBe(false);
    expect(fits({ ...wanted, version: "2" })).toBe(false);
    expect(fits({ ...wanted, tags: ["bad"] })).toBe(false);
    expect(fits({ ...wanted, min_reliability: 0.99 })).toBe(false);
    expect(fits({ ...wanted, capability: "poetry" })).toBe(false);
  });
});

describe("the budget of one query", () => {
  const states = "^(a|b)*a(a|b){200}$";
  // Its letters follow no pattern, so that a search meets no state twice.
  const text = Array.from({ length: 20_000 }, (_, at) => "ab"[((at * at) % 7_919) & 1]).join("");
  const asked: FindQuery = { ...research, input: text };
  /** Versions with a schema each that costs all that one check may. */
  const hostile = (agent: string, count: number): Candidate[] =>
    Array.from({ length: count }, (_, index) =>
      candidate(agent, {
        version: `${index}`,
        input_schema: { pattern: states, title: `${index}` },
      }),
    );
  const honest = candidate("z-honest", { input_schema: { type: "string" } });
  const find = (candidates: Candidate[], options: FindOptions = {}) =>
    findCandidates(asked, candidates, NOW, options);

  test("is shared by all candidates and all of their versions", () => {
    const budget = { stepsLeft: 5_000_000 };
    const { fits, leftOut } = find([...hostile("a-hostile", 256), honest], { budget });
    expect(budget.stepsLeft).toBeLessThanOrEqual(0);
    expect(budget.stepsLeft).toBeGreaterThan(-1_000_000);
    expect(fits.map(({ agent_id }) => agent_id)).toEqual(["z-honest"]);
    expect(leftOut).toHaveLength(256);
    const unchecked = leftOut.filter(({ reasons }) => reasons[0]?.startsWith("not checked"));
    expect(unchecked.length).toBeGreaterThan(250);
  });

  test("leaves out candidates that it does not suffice for, and says so", () => {
    const { fits, leftOut } = find([honest], { budget: { stepsLeft: 0 } });
    expect(fits).toEqual([]);
    expect(leftOut[0]?.reasons).toEqual(["not checked: the query's budget is used up"]);
  });

  test("pays a share for each schema first, and then for those that need more", () => {
    // Each of the two large ones needs more than its share of the budget.
    const large = ["b", "c"].map((id) =>
      candidate(id, {
        input_schema: { allOf: Array.from({ length: 300 }, () => ({ minLength: 1 })) },
      }),
    );
    const { fits } = find([...large, honest], { budget: { stepsLeft: 3_000_000 } });
    expect(fits.map(({ agent_id }) => agent_id)).toEqual(["b", "c", "z-honest"]);
  });

  test("is spent on one version of each agent before the second one of any", () => {
    const many = hostile("a-hostile", 50);
    const costly = candidate("b-costly", {
      input_schema: { allOf: Array.from({ length: 300 }, () => ({ minLength: 1 })) },
    });
    const { fits } = find([...many, costly], { budget: { stepsLeft: 9_000_000 } });
    expect(fits.map(({ agent_id }) => agent_id)).toEqual(["b-costly"]);
  });

  test("is spent first on candidates without another reason against them", () => {
    const full = hostile("a-full", 50).map((each) => ({ ...each, credit: 0 }));
    const costly = candidate("b-costly", {
      input_schema: { allOf: Array.from({ length: 300 }, () => ({ minLength: 1 })) },
    });
    const { fits } = find([...full, costly], { budget: { stepsLeft: 2_000_000 } });
    expect(fits.map(({ agent_id }) => agent_id)).toEqual(["b-costly"]);
  });

  test("is charged once for a schema that several candidates share", () => {
    let checks = 0;
    const inputSchema = {
      check: () => {
        checks += 1;
        return [];
      },
    };
    const alike = ["a", "b", "c"].map((id) => candidate(id, {}, { inputSchema }));
    expect(find(alike).fits).toHaveLength(3);
    expect(checks).toBe(1);
    const verdicts: InputVerdicts = new Map();
    for (let time = 0; time < 2; time += 1) expect(find(alike, { verdicts }).fits).toHaveLength(3);
    expect(checks).toBe(2);
  });

  test("is spent in slices of one check each, with the same answer", () => {
    const all = [...hostile("a-hostile", 3), honest];
    const slices = findInSlices(asked, all, NOW);
    let count = 0;
    for (;;) {
      const slice = slices.next();
      if (slice.done !== true) count += 1;
      else {
        expect(slice.value).toEqual(find(all));
        break;
      }
    }
    expect(count).toBeGreaterThanOrEqual(4);
  });

  test("has a reason of its own, which is not that a schema is too costly by itself", () => {
    const [one] = hostile("a-hostile", 1);
    expect(find([one!]).leftOut[0]?.reasons[0]).toMatch(/too costly/);
    expect(find([one!], { budget: { stepsLeft: 100_000 } }).leftOut[0]?.reasons).toEqual([
      "not checked: the query's budget is used up",
    ]);
  });
});
