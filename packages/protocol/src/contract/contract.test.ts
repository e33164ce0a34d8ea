import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { capabilitySchema } from "../manifest/capability.ts";
import {
  effectiveContract,
  judgeCounter,
  judgeOffer,
  termsOf,
  toLifecycleTerms,
} from "./contract.ts";
import type { Contract } from "./contract.ts";
import { WaybillError } from "../error.ts";
import { DEFAULT_TERMS } from "../lifecycle/handoff.ts";

const own = { type: "object", properties: { a: { type: "string" } } };
const stricter = { type: "object", required: ["a"] };
const capability = capabilitySchema().parse({
  name: "x",
  timeout_seconds: 300,
  lease_seconds: 20,
  max_attempts: 2,
  output_schema: own,
});
const terms = termsOf(capability);

describe("the terms that are bound", () => {
  test("are the manifest's where the offer says nothing", () => {
    expect(effectiveContract(undefined, capability)).toEqual({
      timeout_seconds: 300,
      lease_seconds: 20,
      max_attempts: 2,
      output_schema: own,
    });
  });

  test("are the offer's where it says something, its schema in shorthand too", () => {
    const offer = { timeout_seconds: 400, max_attempts: 1, output_schema: { a: "int" } };
    expect(effectiveContract(offer, capability)).toEqual({
      timeout_seconds: 400,
      lease_seconds: 20,
      max_attempts: 1,
      output_schema: {
        type: "object",
        properties: { a: { type: "integer" } },
        required: ["a"],
      },
    });
  });

  test("never include a hostile schema", () => {
    const offer = { output_schema: { $ref: "http://example.com/" } };
    expect(() => effectiveContract(offer, capability)).toThrow(WaybillError);
  });

  test("are converted to the terms of the lifecycle in milliseconds", () => {
    expect(toLifecycleTerms({ lease_seconds: 1.5 }, capability)).toEqual({
      ...DEFAULT_TERMS,
      maxAttempts: 2,
      leaseMs: 1500,
    });
    const defaults = { ...DEFAULT_TERMS, offerMs: 1, graceMs: 2, backoffMs: 3, backoffCapMs: 4 };
    expect(toLifecycleTerms(undefined, capability, defaults)).toEqual({
      ...defaults,
      maxAttempts: 2,
      leaseMs: 20_000,
    });
  });
});

describe("an offer", () => {
  test.each<[string, Contract | undefined]>([
    ["without terms", undefined],
    ["that leaves all open", {}],
    ["in the manifest's own terms", terms],
    [
      "with more time and fewer tries",
      { timeout_seconds: 301, lease_seconds: 60, max_attempts: 1 },
    ],
    [
      "of the same schema in another order",
      { output_schema: { properties: { a: { type: "string" } }, type: "object" } },
    ],
  ])("%s is accepted", (_what, offer) => {
    expect(judgeOffer(offer, terms)).toEqual({ verdict: "accept" });
  });

  test.each<[string, Contract, Contract, string]>([
    ["too little time", { timeout_seconds: 299 }, { timeout_seconds: 300 }, "timeout_seconds: 299"],
    ["too short a lease", { lease_seconds: 19 }, { lease_seconds: 20 }, "lease_seconds: 19"],
    ["too many tries", { max_attempts: 3 }, { max_attempts: 2 }, "at most 2 needed"],
    [
      "another form",
      { output_schema: stricter },
      { output_schema: own },
      "the output has the form",
    ],
  ])("with %s is countered", (_what, offer, countered, reason) => {
    expect(judgeOffer(offer, terms)).toEqual({
      verdict: "counter",
      contract: { ...terms, ...countered },
      reason: expect.stringContaining(reason) as string,
    });
  });

  test("is countered, and its acceptable terms are kept", () => {
    const verdict = judgeOffer({ timeout_seconds: 10, max_attempts: 1 }, terms);
    expect(verdict).toMatchObject({ contract: { timeout_seconds: 300, max_attempts: 1 } });
  });

  test("is countered once, and then rejected", () => {
    const { verdict } = judgeOffer({ timeout_seconds: 1 }, terms, { hasCountered: true });
    expect(verdict).toBe("reject");
    expect(judgeOffer(terms, terms, { hasCountered: true }).verdict).toBe("accept");
  });

  test("with another output schema is accepted by a recipient that can shape its output", () => {
    const offer = { output_schema: stricter };
    expect(judgeOffer(offer, terms, { takesOutputSchema: true }).verdict).toBe("accept");
  });

  test.each([{ $ref: "http://x/" }, { pattern: "(?=a)", type: "string" }, { a: "word" }, 7])(
    "with the unusable schema %j is rejected outright",
    (output_schema) => {
      const { verdict } = judgeOffer({ output_schema }, terms, { takesOutputSchema: true });
      expect(verdict).toBe("reject");
    },
  );
});

describe("a counter-offer", () => {
  const offer = { timeout_seconds: 60, max_attempts: 3 };
  const counter = { ...terms, timeout_seconds: 300, max_attempts: 2 };

  test("is rejected by a delegator without a tolerance", () => {
    const verdict = judgeCounter(counter, offer);
    expect(verdict).toMatchObject({ verdict: "reject" });
    expect(verdict).toHaveProperty("reason", expect.stringMatching(/timeout.*300.*max_attempts/s));
  });

  test("is accepted unchanged within the tolerance", () => {
    const tolerance = { timeout_seconds: 300, max_attempts: 1 };
    expect(judgeCounter(counter, offer, tolerance)).toEqual({
      verdict: "accept",
      contract: counter,
    });
    expect(judgeCounter(counter, offer, { ...tolerance, timeout_seconds: 299 }).verdict).toBe(
      "reject",
    );
  });

  test("is accepted in terms that the delegator has not named", () => {
    expect(judgeCounter(terms, { output_schema: own }).verdict).toBe("accept");
    expect(judgeCounter(terms, undefined).verdict).toBe("accept");
  });

  test("with another output schema is accepted only if that was asked for or is tolerated", () => {
    const asked = { output_schema: stricter };
    expect(judgeCounter(terms, asked).verdict).toBe("reject");
    expect(judgeCounter({}, asked).verdict).toBe("reject");
    expect(judgeCounter(terms, asked, { output_schema: own }).verdict).toBe("accept");
  });

  test("with a hostile schema is rejected", () => {
    expect(judgeCounter({ output_schema: { $ref: "http://x/" } }, {}).verdict).toBe("reject");
  });
});

const anyContract: fc.Arbitrary<Contract> = fc.record(
  {
    timeout_seconds: fc.integer({ min: 1, max: 1000 }),
    lease_seconds: fc.integer({ min: 1, max: 100 }),
    max_attempts: fc.integer({ min: 1, max: 5 }),
    output_schema: fc.constantFrom(own, stricter, { a: "string" }),
  },
  { requiredKeys: [] },
);

test("a counter-offer that is offered in turn is accepted: one round, whatever the terms", () => {
  fc.assert(
    fc.property(anyContract, fc.boolean(), (offer, takesOutputSchema) => {
      const verdict = judgeOffer(offer, terms, { takesOutputSchema });
      expect(verdict.verdict).not.toBe("reject");
      if (verdict.verdict !== "counter") return;
      const again = { takesOutputSchema, hasCountered: true };
      expect(judgeOffer(verdict.contract, terms, again).verdict).toBe("accept");
    }),
  );
});

test("a counter-offer equal to the offer is always accepted", () => {
  fc.assert(
    fc.property(anyContract, (offer) => {
      expect(judgeCounter(offer, offer).verdict).toBe("accept");
    }),
  );
});
