import { readUsageRow } from "@waybill/protocol";
import { expect, test } from "vitest";
import { usageRowOf } from "./usage.ts";

test("a framework's counts become a row, whatever other members there are", () => {
  expect(
    usageRowOf({
      model: "m",
      requests: 1,
      input_tokens: 12,
      output_tokens: null,
      reasoning_tokens: Number.NaN,
    }),
  ).toEqual({ model: "m", requests: 1, input_tokens: 12 });
  expect(usageRowOf({ input_tokens: 2, cached_input_tokens: 5 })).toEqual({
    input_tokens: 5,
    cached_input_tokens: 5,
  });
  expect(usageRowOf({ model: "m" })).toBeUndefined();
  expect(usageRowOf({ model: "m", input_tokens: 0, output_tokens: 0 })).toBeUndefined();
});

test("an invalid count never makes a row that a result could not carry", () => {
  const odd = [undefined, null, 0, 1, 7, -1, 0.5, 2 ** 53, Number.NaN, Infinity, "7", {}];
  for (const one of odd) {
    for (const other of odd) {
      const row = usageRowOf({
        model: one,
        requests: other,
        input_tokens: one,
        cached_input_tokens: other,
        output_tokens: other,
        reasoning_tokens: one,
      });
      if (row !== undefined) expect(readUsageRow(row)).toEqual(row);
    }
  }
});
