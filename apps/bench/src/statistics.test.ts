import { expect, test } from "vitest";
import { median, quantile, spreadPercent } from "./statistics.ts";

test("the median is the middle value, or the mean of the two middle values", () => {
  expect(median([9, 10, 100])).toBe(10);
  expect(median([4, 1, 3, 2])).toBe(2.5);
  expect(median([7])).toBe(7);
});

test("a quantile is one of the values, by nearest rank", () => {
  const values = Array.from({ length: 200 }, (_, i) => 200 - i);
  expect(quantile(values, 0.5)).toBe(100);
  expect(quantile(values, 0.99)).toBe(198);
  expect(quantile([5], 0.99)).toBe(5);
  expect(quantile([5, 6], 0)).toBe(5);
});

test("one outlier changes neither the median nor the spread", () => {
  expect(median([100, 101, 99, 100, 9000])).toBe(100);
  expect(spreadPercent([100, 102, 98, 100, 9000])).toBe(2);
});

test("the values keep their order", () => {
  const values = [3, 1, 2];
  median(values);
  expect(values).toEqual([3, 1, 2]);
});

test("an empty list has no median", () => {
  expect(() => median([])).toThrow("no median of no values");
});
