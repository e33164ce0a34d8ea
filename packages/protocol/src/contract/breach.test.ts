import { describe, expect, test } from "vitest";
import { breaches } from "./breach.ts";
import type { AttemptFacts } from "./breach.ts";
import type { BoundContract } from "./contract.ts";

const contract: BoundContract = {
  timeout_seconds: 10,
  lease_seconds: 2,
  max_attempts: 3,
  output_schema: { type: "object", required: ["answer"] },
};
const kept: AttemptFacts = {
  attempt: 1,
  recipient: "worker",
  acceptedAt: 1000,
  endedAt: 11_000,
  closed: "result",
  status: 200,
  output: { answer: 42 },
  outputBytes: 13,
};
const of = (...attempts: AttemptFacts[]) => breaches(contract, { delegator: "boss", attempts });

test("a recipient that keeps the contract to the last millisecond breaks nothing", () => {
  expect(of(kept)).toEqual([]);
});

describe("broken by the recipient", () => {
  test.each<[string, Partial<AttemptFacts>, string, string]>([
    ["a millisecond late", { endedAt: 11_001 }, "timeout_seconds", "10.001 s"],
    ["silence", { closed: "lease_lost", status: 502 }, "lease_seconds", "2 s"],
    ["too large an output", { outputBytes: 2 ** 20 + 1 }, "output_bytes", "1048577 bytes"],
    ["an output of another form", { output: { answr: 1 } }, "output_schema", "breaks its schema"],
    ["an empty success", { output: undefined }, "output_schema", "without an output"],
    ["an output that was refused", { status: 520 }, "output_schema", "refused"],
  ])("%s", (_what, facts, term, reason) => {
    expect(of({ ...kept, ...facts })).toEqual([
      { by: "worker", term, attempt: 1, reason: expect.stringContaining(reason) as string },
    ]);
  });
});

describe("not broken", () => {
  test.each<[string, Partial<AttemptFacts>]>([
    ["while nothing was accepted", { acceptedAt: null, endedAt: 99_000, closed: "unreachable" }],
    ["by the time that a question was open", { endedAt: 99_000, waitedMs: 88_000 }],
    ["by a failure that says so", { status: 500, output: undefined }],
  ])("%s", (_what, facts) => {
    expect(of({ ...kept, ...facts })).toEqual([]);
  });

  test("by a success in messages alone, where no output schema was agreed", () => {
    const facts = { delegator: "boss", attempts: [{ ...kept, output: undefined }] };
    expect(breaches({ ...contract, output_schema: {} }, facts)).toEqual([]);
    expect(breaches({ ...contract, output_schema: true }, facts)).toEqual([]);
  });
});

test("broken by the delegator: more input than the manifest allows", () => {
  const facts = { delegator: "boss", inputBytes: 101, maxInputBytes: 100, attempts: [kept] };
  expect(breaches(contract, facts)).toEqual([
    {
      by: "boss",
      term: "max_input_bytes",
      attempt: null,
      reason: "the input has 101 bytes, and the manifest takes 100",
    },
  ]);
});

test("each attempt is judged separately", () => {
  const lost: AttemptFacts = { ...kept, recipient: "sleeper", closed: "lease_lost", status: 502 };
  const late: AttemptFacts = { ...kept, attempt: 2, endedAt: 20_000, output: {} };
  expect(of(lost, late).map(({ by, term, attempt }) => [by, term, attempt])).toEqual([
    ["sleeper", "lease_seconds", 1],
    ["worker", "timeout_seconds", 2],
    ["worker", "output_schema", 2],
  ]);
});

test("an unusable schema is recorded, not thrown", () => {
  const hostile = { ...contract, output_schema: { $ref: "http://x/" } };
  const [breach] = breaches(hostile, { delegator: "boss", attempts: [kept] });
  expect(breach?.reason).toContain("can't be checked");
});

test("the outputs of all attempts share one budget", () => {
  const output_schema = { allOf: Array.from({ length: 1_000 }, () => ({ minLength: 1 })) };
  const output = "x".repeat(17_000);
  const attempts = Array.from({ length: 32 }, (_, at) => ({ ...kept, attempt: at + 1, output }));
  const found = breaches({ ...contract, output_schema }, { delegator: "boss", attempts });
  expect(found[0]?.attempt).toBeGreaterThan(2);
  expect(found.at(-1)?.attempt).toBe(32);
  expect(found[0]?.reason).toMatch(/can't be checked: the budget of steps is used up/);
});
