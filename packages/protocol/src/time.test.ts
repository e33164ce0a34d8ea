import fc from "fast-check";
import { expect, test } from "vitest";
import { formatTime, isTime, parseTime, TIME } from "./time.ts";

test("any time that a Date can write between the years 0 and 9999 reads back", () => {
  const min = new Date("0000-01-01T00:00:00Z");
  const max = new Date("9999-12-31T23:59:59.999Z");
  fc.assert(
    fc.property(fc.date({ min, max, noInvalidDate: true }), (date) => {
      expect(parseTime(date.toISOString())).toBe(date.getTime());
    }),
  );
});

test("a time is written as a Date would write it, whatever was written before", () => {
  const time = fc.integer({ min: -62_167_219_200_000, max: 253_402_300_799_999 });
  const near = fc.tuple(time, fc.array(fc.integer({ min: -100_000_000, max: 100_000_000 })));
  fc.assert(
    fc.property(near, ([first, steps]) => {
      for (const each of [first, ...steps.map((step) => first + step)]) {
        expect(formatTime(each)).toBe(new Date(each).toISOString());
      }
    }),
  );
  expect(() => formatTime(Number.NaN)).toThrow(RangeError);
});

test("any day of any month is a time exactly if it is in the calendar", () => {
  const two = (number: number) => String(number).padStart(2, "0");
  fc.assert(
    fc.property(fc.nat(9999), fc.nat(13), fc.nat(32), (year, month, day) => {
      const text = `${String(year).padStart(4, "0")}-${two(month)}-${two(day)}T00:00:00Z`;
      const date = new Date(Date.UTC(2000, month - 1, day));
      date.setUTCFullYear(year, month - 1, day);
      const exists = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
      expect(isTime(text)).toBe(exists);
    }),
  );
});

test.each([
  ["2026-11-18T07:45:00Z", 0],
  ["2026-11-18T07:45:00.5Z", 500],
  ["2026-11-18T07:45:00.05Z", 50],
  ["2026-11-18T07:45:00.123456789Z", 123],
])("%s ends in %i ms", (text, ms) => {
  expect(parseTime(text)).toBe(Date.UTC(2026, 10, 18, 7, 45, 0, ms));
});

test.each([
  "2026-02-30T00:00:00Z",
  "2025-02-29T00:00:00Z",
  "1900-02-29T00:00:00Z",
  "2026-00-10T00:00:00Z",
  "2026-13-10T00:00:00Z",
  "2026-04-31T00:00:00Z",
  "2026-04-00T00:00:00Z",
  "2026-04-01T24:00:00Z",
  "2026-04-01T00:60:00Z",
  "2026-04-01T23:59:60Z",
])("%s has the form and is no valid time", (text) => {
  expect(TIME.test(text)).toBe(true);
  expect(parseTime(text)).toBeUndefined();
});

test.each([
  "",
  "2026-11-18",
  "2026-11-18T07:45:00",
  "2026-11-18T07:45:00+00:00",
  "2026-11-18t07:45:00z",
  "2026-11-18 07:45:00Z",
  "2026-11-18T07:45Z",
  "2026-11-18T07:45:00.Z",
  "2026-11-18T07:45:00.1234567890Z",
  "2026-11-18T07:45:00,5Z",
  "+02026-11-18T07:45:00Z",
  "\uff12026-11-18T07:45:00Z",
  "2026-11-18T07:45:00Z\n",
  " 2026-11-18T07:45:00Z",
])("%j does not have the form", (text) => {
  expect(TIME.test(text)).toBe(false);
  expect(parseTime(text)).toBeUndefined();
});

test("only a string is a time", () => {
  expect(isTime("2026-11-18T07:45:00Z")).toBe(true);
  expect(isTime(1_763_451_900_000)).toBe(false);
  expect(isTime(null)).toBe(false);
});
