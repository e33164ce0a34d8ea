import { describe, expect, test } from "vitest";
import {
  CAPABILITY_DEFAULTS,
  capabilitySchema,
  compareVersions,
  isCapabilityName,
  matchesVersion,
} from "./capability.ts";

test.each(["web_research", "a", "_x", "org.example/Summarise:v2-beta", "9".repeat(128)])(
  "%s is a capability's name",
  (name) => {
    expect(isCapabilityName(name)).toBe(true);
  },
);

test.each(["", "-x", ".x", "/x", ":x", "web research", "w\u00e9b", "x\n", "a".repeat(129), null])(
  "%j is no capability's name",
  (name) => {
    expect(isCapabilityName(name)).toBe(false);
  },
);

test("missing terms have the values of the table of defaults", () => {
  expect(capabilitySchema().parse({ name: "x" })).toEqual({ name: "x", ...CAPABILITY_DEFAULTS });
});

test("changing one capability's defaults does not change another's", () => {
  capabilitySchema().parse({ name: "x" }).tags.push("spoilt");
  expect(capabilitySchema().parse({ name: "y" }).tags).toEqual([]);
});

describe("a wanted version", () => {
  test.each([
    ["1", "1"],
    ["1.4", "1"],
    ["1.4.2", "1.4"],
    ["1", "1.0"],
    ["1.4.2", "^1.4"],
    ["1.10", "^1.9"],
    ["2", ">=1.9"],
    ["1.9", ">=1.9"],
    ["2.0-rc.1", "2.0-rc.1"],
    ["spring", "spring"],
  ])("%s matches %s", (offered, wanted) => {
    expect(matchesVersion(offered, wanted)).toBe(true);
  });

  test.each([
    ["10", "1"],
    ["2", "1"],
    ["1", "1.2"],
    ["1.4.2", "1.4.1"],
    ["2.0", "^1.4"],
    ["1.3.9", "^1.4"],
    ["1.8.9", ">=1.9"],
    ["2.0-rc.1", "2"],
    ["spring", "summer"],
    ["1.4", "1.x"],
    ["1.4", "^"],
    ["1.4", ""],
  ])("%s does not match %j", (offered, wanted) => {
    expect(matchesVersion(offered, wanted)).toBe(false);
  });
});

test("versions are ordered by their numbers, after names", () => {
  const versions = ["1.10", "spring", "1.9", "2", "autumn", "1.9.1"];
  expect(versions.toSorted(compareVersions)).toEqual([
    "autumn",
    "spring",
    "1.9",
    "1.9.1",
    "1.10",
    "2",
  ]);
  expect(compareVersions("1", "1.0")).toBe(0);
});
