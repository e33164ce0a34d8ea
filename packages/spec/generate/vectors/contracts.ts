import { vectorFile } from "./case.ts";
import type { Row, VectorFile } from "./case.ts";

type Members = Record<string, unknown>;

const TERMS = { timeout_seconds: 300, lease_seconds: 30, max_attempts: 3, output_schema: {} };

function judged(title: string, offer: Members | null, expect: Members, more: Members = {}): Row {
  return {
    rules: offer !== null && "max_tokens" in offer ? [74, 233] : [74],
    title,
    input: { operation: "offer", offer, terms: TERMS, has_countered: false, ...more },
    expect,
  };
}

function answered(title: string, counter: Members, offer: Members | null, verdict: string): Row {
  return {
    rules: offer !== null && "max_tokens" in offer ? [74, 233] : [74],
    title,
    input: { operation: "counter", counter, offer },
    expect: { verdict },
  };
}

/** Limits of usage, for which a manifest has no term. */
const CAPS = { max_tokens: 1000, max_cost: { amount: "0.50", currency: "USD" } };
const ACCEPT = { verdict: "accept" };
const counter = (contract: Members): Members => ({ verdict: "counter", contract });

export const CONTRACTS: VectorFile = vectorFile(
  "contracts",
  "contract",
  "Terms that are offered, and what a recipient or a delegator makes of them.",
  [
    judged("no terms at all", null, ACCEPT),
    judged("the recipient's own terms", { ...TERMS }, ACCEPT),
    judged(
      "more time, and fewer attempts",
      { timeout_seconds: 600, lease_seconds: 60, max_attempts: 1 },
      ACCEPT,
    ),
    judged("too little time", { timeout_seconds: 60 }, counter(TERMS)),
    judged(
      "too short a lease, and time enough",
      { timeout_seconds: 900, lease_seconds: 1 },
      counter({ ...TERMS, timeout_seconds: 900 }),
    ),
    judged("caps that the recipient holds to", CAPS, ACCEPT),
    judged(
      "caps, and too little time",
      { ...CAPS, timeout_seconds: 60 },
      counter({ ...TERMS, ...CAPS }),
    ),
    judged("too many attempts", { max_attempts: 9 }, counter(TERMS)),
    judged(
      "the same again after a counter-offer",
      { max_attempts: 9 },
      { verdict: "reject" },
      { has_countered: true },
    ),
    judged("the terms of the counter-offer", { ...TERMS }, ACCEPT, { has_countered: true }),
    judged(
      "an output in a form that can't be used",
      { output_schema: { $ref: "https://example.com/s" } },
      { verdict: "reject" },
    ),
    answered(
      "a counter-offer where nothing was asked for",
      { timeout_seconds: 300 },
      null,
      "accept",
    ),
    answered(
      "a counter-offer that wants more time than there is",
      { timeout_seconds: 300 },
      { timeout_seconds: 60 },
      "reject",
    ),
    answered(
      "a counter-offer in the very words of the offer",
      { timeout_seconds: 60 },
      { timeout_seconds: 60 },
      "accept",
    ),
    answered("a counter-offer with the caps of the offer", { ...TERMS, ...CAPS }, CAPS, "accept"),
    answered("a counter-offer without the caps of the offer", TERMS, CAPS, "reject"),
    answered(
      "a counter-offer with a higher cap on tokens",
      { ...CAPS, max_tokens: 1001 },
      CAPS,
      "reject",
    ),
    answered(
      "a counter-offer with a higher cap on cost",
      { ...CAPS, max_cost: { amount: "0.500000000001", currency: "USD" } },
      CAPS,
      "reject",
    ),
    answered(
      "a counter-offer with a cap in another currency",
      { ...CAPS, max_cost: { amount: "0.1", currency: "EUR" } },
      CAPS,
      "reject",
    ),
    answered(
      "a counter-offer with lower caps",
      { max_tokens: 1, max_cost: { amount: "0.4", currency: "USD" } },
      CAPS,
      "accept",
    ),
  ],
);
