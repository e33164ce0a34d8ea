import { expect, test } from "vitest";
import { toJson, toTable } from "./report.ts";
import type { Report } from "./report.ts";

const report: Report = {
  group: "protocol",
  node: "24.21.0",
  cpus: 2,
  rounds: 3,
  cases: [
    {
      name: "raw",
      perSecond: 20_000,
      p50Ms: 0.05,
      p99Ms: 0.0625,
      spreadPercent: 1.5,
      rates: [19_000, 20_000, 21_000],
    },
    {
      name: "whole and long",
      perSecond: 12.5,
      p50Ms: 80,
      p99Ms: 1600,
      spreadPercent: 2,
      rates: [12, 12.5, 13],
    },
  ],
  ratios: [
    {
      name: "over_raw",
      value: 1.25,
      spreadPercent: 0.5,
      meaning: "whole by raw",
      wanted: "<= 1.3",
      isMet: true,
    },
    {
      name: "gain",
      value: 7.5,
      spreadPercent: 0.5,
      meaning: "batch by one",
      wanted: ">= 8",
      isMet: false,
    },
  ],
};

test("as JSON: the group, its cases, and ratios by name", () => {
  expect(JSON.parse(JSON.stringify(toJson(report)))).toEqual({
    group: "protocol",
    node: "24.21.0",
    cpus: 2,
    rounds: 3,
    cases: [
      { name: "raw", perSecond: 20_000, p50Ms: 0.05, p99Ms: 0.0625, spreadPercent: 1.5 },
      { name: "whole and long", perSecond: 12.5, p50Ms: 80, p99Ms: 1600, spreadPercent: 2 },
    ],
    ratios: { over_raw: 1.25, gain: 7.5 },
    bounds: {
      over_raw: { wanted: "<= 1.3", isMet: true, spreadPercent: 0.5 },
      gain: { wanted: ">= 8", isMet: false, spreadPercent: 0.5 },
    },
  });
});

test("as a table: readable units, aligned columns, and whether each bound is met", () => {
  expect(toTable(report).split("\n")).toEqual([
    "protocol: medians of 3 interleaved rounds, Node 24.21.0, 2 processors",
    "",
    "case            per second      p50      p99  spread",
    "raw                 20,000  50.0 µs  62.5 µs  ±1.5 %",
    "whole and long        12.5  80.0 ms    1.6 s  ±2.0 %",
    "",
    "ratio     value  spread    wanted  meaning",
    "over_raw   1.25  ±0.5 %  <= 1.3 ✓  whole by raw",
    "gain       7.50  ±0.5 %    >= 8 ✗  batch by one",
  ]);
});
