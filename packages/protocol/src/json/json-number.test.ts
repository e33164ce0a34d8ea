import fc from "fast-check";
import { expect, test } from "vitest";
import { losesFraction } from "./json-number.ts";
import { parseJson } from "./json.ts";

/** A JSON number's spelling, and whether it is whole, by integers of any length. */
const numbers = fc
  .record({
    minus: fc.constantFrom("", "-"),
    digits: fc.oneof(fc.maxSafeNat().map(String), fc.constantFrom("0", "9007199254740993")),
    fraction: fc.oneof(
      fc.stringMatching(/^\d{0,30}$/),
      fc.constantFrom("0000000000000001", "99999999999999999", "000"),
    ),
    exponent: fc.option(fc.integer({ min: -40, max: 40 }), { nil: undefined }),
  })
  .map(({ minus, digits, fraction, exponent }) => {
    const literal = `${minus}${digits}${fraction && `.${fraction}`}${exponent === undefined ? "" : `e${exponent}`}`;
    const shift = (exponent ?? 0) - fraction.length;
    const all = BigInt(digits + fraction);
    return { literal, isWhole: shift >= 0 || all % 10n ** BigInt(-shift) === 0n };
  })
  .filter(({ literal }) => /[.e]/.test(literal));

test("a number is refused exactly if it is not whole and its double is", () => {
  let lost = 0;
  fc.assert(
    fc.property(numbers, ({ literal, isWhole }) => {
      const isLost = !isWhole && Number.isInteger(Number(literal));
      if (isLost) lost++;
      expect(losesFraction(literal), literal).toBe(isLost);
      const read = () => parseJson(`{"a":[${literal},true]}`);
      if (isLost) expect(read).toThrow(/is not whole/);
      else expect(read()).toEqual({ a: [Number(literal), true] });
    }),
    { numRuns: 3_000 },
  );
  expect(lost).toBeGreaterThan(50);
});
