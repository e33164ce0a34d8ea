import fc from "fast-check";
import { expect, test } from "vitest";
import { breaches } from "../audit.ts";
import { judgeCounter, judgeOffer, mergeUsage, readUsageRow, sumUsage } from "../index.ts";
import { totalUsage } from "../usage/usage.ts";
import type { BoundContract, UsageRow } from "../index.ts";
import { readWith, refusal, statusOf } from "./rules-fixture.ts";

const MOST = Number.MAX_SAFE_INTEGER;
const result = (usage: unknown) => () => readWith("result", { body: { status: 200, usage } });

test("WB-230 usage is read from results, failures and pauses, and invalid counts and amounts are 400", () => {
  const own = [{ model: "m", input_tokens: MOST, cost: { amount: "0.5", currency: "USD" } }];
  const error = { message: "it broke" };
  const pause = { questions: [{ id: "q" }], state: "s", usage: { own } };
  for (const [kind, body] of [
    ["result", { status: 200, output: 1, usage: { own } }],
    ["result", { status: 500, error, usage: { own } }],
    ["question", pause],
  ] as const) {
    expect(readWith(kind, { body }).envelope.body).toMatchObject({ usage: { own } });
  }
  const at = (usage: unknown) => refusal(result(usage));
  const row = "/body/usage/own/0";
  for (const [wrong, place] of [
    [{ input_tokens: -1 }, "/input_tokens"],
    [{ requests: 0.5 }, "/requests"],
    [{ output_tokens: "1" }, "/output_tokens"],
    [{ model: "" }, "/model"],
    [{ cost: { amount: 1, currency: "USD" } }, "/cost/amount"],
    [{ cost: { amount: "1e3", currency: "USD" } }, "/cost/amount"],
    [{ cost: { amount: "-1", currency: "USD" } }, "/cost/amount"],
    [{ cost: { amount: "1", currency: "usd" } }, "/cost/currency"],
    [{ input_tokens: 1, cached_input_tokens: 2 }, ""],
    [{ output_tokens: 1, reasoning_tokens: 2 }, ""],
  ] as const) {
    expect(at({ own: [wrong] }), JSON.stringify(wrong)).toEqual({ status: 400, at: row + place });
    expect(refusal(() => readUsageRow(wrong))).toEqual({ status: 400, at: place });
  }
  const rows = (count: number) => Array.from({ length: count }, () => ({}));
  for (const list of ["own", "earlier", "children"]) {
    expect(statusOf(result({ [list]: rows(64) }))).toBe("taken");
    expect(at({ [list]: rows(65) })).toEqual({ status: 413, at: `/body/usage/${list}` });
  }
});

test("WB-231 the usage of a handoff is own, earlier and children together", () => {
  const [own, earlier, children] = [1, 10, 100].map((input_tokens) => [{ input_tokens }]);
  expect(totalUsage({ own, earlier, children }).input_tokens).toBe(111);
  expect(totalUsage(undefined).input_tokens).toBe(0);
});

const count = fc.option(fc.integer({ min: 0, max: 2 ** 40 }), { nil: undefined });
const anyRow: fc.Arbitrary<UsageRow> = fc.record({
  model: fc.constantFrom("a", "b", undefined),
  requests: count,
  input_tokens: count,
  output_tokens: count,
  cost: fc.option(
    fc.record({
      amount: fc
        .tuple(fc.integer({ min: 0, max: 10 ** 9 }), fc.integer({ min: 0, max: 999 }))
        .map(([whole, part]) => `${whole}.${String(part).padStart(3, "0")}`),
      currency: fc.constantFrom("USD", "EUR"),
    }),
    { nil: undefined },
  ),
});

test("WB-232 rows are added by model and currency, and no sum exceeds its bounds", () => {
  fc.assert(
    fc.property(fc.array(anyRow, { maxLength: 20 }), (rows) => {
      const merged = mergeUsage(rows);
      expect(sumUsage(merged)).toEqual(sumUsage(mergeUsage(rows.toReversed().toReversed())));
      expect(sumUsage(merged)).toMatchObject({
        requests: rows.reduce((sum, { requests = 0 }) => sum + requests, 0),
      });
      const keys = merged.map(({ model, cost }) => `${model} ${cost?.currency}`);
      expect(new Set(keys).size).toBe(keys.length);
      expect(statusOf(result({ own: merged }))).toBe("taken");
    }),
  );
  const paid = (amount: string, currency: string) => ({ model: "a", cost: { amount, currency } });
  expect(mergeUsage([paid("1", "USD"), paid("2", "EUR"), paid("0.50", "USD")])).toEqual([
    paid("1.5", "USD"),
    paid("2", "EUR"),
  ]);
  const most = { input_tokens: MOST, cost: { amount: "9".repeat(15), currency: "USD" } };
  expect(statusOf(result({ own: mergeUsage([most, most, most]) }))).toBe("taken");
  const models = Array.from({ length: 500 }, (_, n) => ({ model: `m${n}`, requests: 1 }));
  expect(statusOf(result({ own: mergeUsage(models) }))).toBe("taken");
  expect(sumUsage(mergeUsage(models)).requests).toBe(500);
});

const terms: BoundContract = {
  timeout_seconds: 10,
  lease_seconds: 2,
  max_attempts: 3,
  output_schema: {},
};
const caps = { max_tokens: 100, max_cost: { amount: "0.50", currency: "USD" } };

test("WB-233 caps bind the recipient that accepts them, and exceeding one is a breach", () => {
  expect(judgeOffer(caps, terms).verdict).toBe("accept");
  const countered = judgeOffer({ ...caps, timeout_seconds: 1 }, terms);
  expect(countered).toMatchObject({ verdict: "counter", contract: caps });
  const dearer = { ...terms, ...caps, max_tokens: 101 };
  for (const cap of [{ max_tokens: caps.max_tokens }, { max_cost: caps.max_cost }]) {
    expect(judgeCounter(terms, cap).verdict).toBe("reject");
    expect(judgeCounter({ ...terms, ...cap }, cap).verdict).toBe("accept");
  }
  expect(judgeCounter(dearer, caps).verdict).toBe("reject");
  expect(judgeCounter(dearer, caps, { max_tokens: 101 }).verdict).toBe("accept");
  for (const wrong of [{ max_tokens: 0.5 }, { max_tokens: -1 }, { max_cost: "1" }]) {
    const body = { capability: "web_research", contract: wrong };
    expect(
      statusOf(() => readWith("handoff", { body })),
      JSON.stringify(wrong),
    ).toBe(400);
  }

  const used = (...rows: UsageRow[]) =>
    breaches(
      { ...terms, ...caps },
      {
        delegator: "boss",
        attempts: [
          {
            attempt: 1,
            recipient: "worker",
            acceptedAt: 0,
            endedAt: 1,
            status: 200,
            output: 1,
            usage: { own: rows.slice(0, 1), children: rows.slice(1) },
          },
        ],
      },
    ).map(({ by, term, reason }) => [by, term, reason]);
  const usd = (amount: string) => ({ cost: { amount, currency: "USD" } });
  expect(used({ input_tokens: 60, output_tokens: 40, ...usd("0.5") })).toEqual([]);
  expect(used({ input_tokens: 60 }, { output_tokens: 41 })).toEqual([
    ["worker", "max_tokens", "it used 101 tokens, and 100 were agreed"],
  ]);
  expect(used(usd("0.25"), usd("0.250000000001"))).toEqual([
    ["worker", "max_cost", "it cost 0.500000000001 USD, and 0.50 were agreed"],
  ]);
  expect(used({ cost: { amount: "7", currency: "EUR" } })).toEqual([]);
});
