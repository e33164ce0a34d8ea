import { vectorFile } from "./case.ts";
import type { Row, VectorFile } from "./case.ts";

type Members = Record<string, unknown>;

const MOST = Number.MAX_SAFE_INTEGER;
const NOTHING: Members = {
  requests: 0,
  input_tokens: 0,
  cached_input_tokens: 0,
  output_tokens: 0,
  reasoning_tokens: 0,
  costs: [],
};
const usd = (amount: string): Members => ({ amount, currency: "USD" });
const eur = (amount: string): Members => ({ amount, currency: "EUR" });

function added(title: string, rows: Members[], sums: Members[], total: Members): Row {
  const expect = { rows: sums, total: { ...NOTHING, ...total } };
  return { rules: [232], title, input: { rows }, expect };
}

export const USAGE: VectorFile = vectorFile("usage", "usage", "Rows of usage that are added up.", [
  added("no rows", [], [], {}),
  added(
    "two rows of one model",
    [
      { model: "m", requests: 1, input_tokens: 3, output_tokens: 4, reasoning_tokens: 2 },
      { model: "m", requests: 2, input_tokens: 5, cached_input_tokens: 5, output_tokens: 6 },
    ],
    [
      {
        model: "m",
        requests: 3,
        input_tokens: 8,
        cached_input_tokens: 5,
        output_tokens: 10,
        reasoning_tokens: 2,
      },
    ],
    {
      requests: 3,
      input_tokens: 8,
      cached_input_tokens: 5,
      output_tokens: 10,
      reasoning_tokens: 2,
    },
  ),
  added(
    "two models, and tokens of no model that is named",
    [{ model: "b", input_tokens: 1 }, { input_tokens: 2 }, { model: "a", input_tokens: 4 }],
    [{ model: "b", input_tokens: 1 }, { input_tokens: 2 }, { model: "a", input_tokens: 4 }],
    { input_tokens: 7 },
  ),
  added(
    "amounts that binary fractions can't hold",
    [{ cost: usd("0.1") }, { cost: usd("0.2") }, { cost: usd("0.000000000001") }],
    [{ cost: usd("0.300000000001") }],
    { costs: [usd("0.300000000001")] },
  ),
  added(
    "an amount that becomes whole",
    [{ cost: usd("0.50") }, { cost: usd("0.50") }],
    [{ cost: usd("1") }],
    { costs: [usd("1")] },
  ),
  added(
    "one model in two currencies",
    [
      { model: "m", input_tokens: 1, cost: usd("1") },
      { model: "m", input_tokens: 2, cost: eur("1") },
      { model: "m", input_tokens: 4, cost: usd("1") },
    ],
    [
      { model: "m", input_tokens: 5, cost: usd("2") },
      { model: "m", input_tokens: 2, cost: eur("1") },
    ],
    { input_tokens: 7, costs: [usd("2"), eur("1")] },
  ),
  added(
    "more tokens than a number can hold",
    [
      { model: "m", input_tokens: MOST, output_tokens: 1 },
      { model: "m", input_tokens: 1, output_tokens: 1 },
    ],
    [{ model: "m", input_tokens: MOST, output_tokens: 2 }],
    { input_tokens: MOST, output_tokens: 2 },
  ),
  added(
    "more money than an amount can hold",
    [{ cost: usd("999999999999999.999999999999") }, { cost: usd("0.000000000001") }],
    [{ cost: usd("999999999999999.999999999999") }],
    { costs: [usd("999999999999999.999999999999")] },
  ),
  added(
    "a hundred models: the first 32 are kept apart",
    Array.from({ length: 100 }, (_, n) => ({ model: `m${n}`, requests: 1 })),
    [...Array.from({ length: 32 }, (_, n) => ({ model: `m${n}`, requests: 1 })), { requests: 68 }],
    { requests: 100 },
  ),
  {
    rules: [231],
    title: "what a handoff has used: own, earlier and children together",
    input: {
      usage: {
        own: [{ model: "m", requests: 1, input_tokens: 1 }],
        earlier: [{ model: "m", requests: 2, input_tokens: 10 }],
        children: [{ model: "n", requests: 4, input_tokens: 100, cost: usd("0.5") }],
      },
    },
    expect: {
      rows: [
        { model: "m", requests: 3, input_tokens: 11 },
        { model: "n", requests: 4, input_tokens: 100, cost: usd("0.5") },
      ],
      total: { ...NOTHING, requests: 7, input_tokens: 111, costs: [usd("0.5")] },
    },
  },
]);
