import { expect, test } from "vitest";
import { readArguments } from "./arguments.ts";

test("a group alone", () => {
  expect(readArguments(["protocol"])).toEqual({
    group: "protocol",
    isJson: false,
    isStrict: false,
    rounds: undefined,
  });
});

test("options may stand before or after the group", () => {
  const expected = { group: "protocol", isJson: true, isStrict: true, rounds: 7 };
  expect(readArguments(["protocol", "--json", "--strict", "--rounds", "7"])).toEqual(expected);
  expect(readArguments(["--rounds=7", "--strict", "--json", "protocol"])).toEqual(expected);
});

test("no group is no error", () => {
  expect(readArguments([]).group).toBeUndefined();
});

test.each([
  [["a", "b"], "One group at a time"],
  [["a", "--rounds", "0"], '--rounds takes a whole number from 1 on, not "0".'],
  [["a", "--rounds", "many"], "--rounds takes a whole number"],
  [["a", "--rounds"], "--rounds"],
  [["a", "--fast"], "--fast"],
])("%j is refused", (given, reason) => {
  expect(() => readArguments(given)).toThrow(reason);
});
