/// <reference types="node" />
import process from "node:process";
import { pairSuite } from "@waybill/conformance";
import { describe, expect, test } from "vitest";
import { frameworks, isForeign, isWith } from "./frameworks.ts";
import type { Pair } from "./frameworks.ts";
import { matrixAsMarkdown } from "./table.ts";
import type { Verdict } from "./table.ts";

const isWithKaiban = (pair: Pair): boolean => isWith("KaibanJS", pair);
const isWithOpenClaw = (pair: Pair): boolean => isWith("OpenClaw", pair);
/** Frameworks with an installation of their own. */
const isApart = (pair: Pair): boolean => isWithKaiban(pair) || isWithOpenClaw(pair);
/** A turn of a gateway takes a second, so CI tries one other framework in both directions. */
const OFTEN_WITH_OPENCLAW: readonly string[] = ["OpenClaw", "LangGraph"];

/** Which pairs a run includes, by vitest's `--mode`. */
const RUNS: Readonly<Record<string, (pair: Pair) => boolean>> = {
  test: (pair) => !isForeign(pair) && !isApart(pair),
  python: (pair) => isForeign(pair) && !isApart(pair),
  kaiban: (pair) => isWithKaiban(pair) && !isWithOpenClaw(pair),
  openclaw: ({ serving, calling }) =>
    isWithOpenClaw({ serving, calling }) &&
    [serving, calling].every(({ name }) => OFTEN_WITH_OPENCLAW.includes(name)),
  "openclaw-all": isWithOpenClaw,
  all: () => true,
};

const mode = process.env["MODE"]!;
const isRun = RUNS[mode]!;
const all = await frameworks();
const pairs: Pair[] = all.flatMap((serving) => all.map((calling) => ({ serving, calling })));
const verdicts: Verdict[] = [];

for (const pair of pairs) {
  const { serving, calling } = pair;
  const cases = pairSuite(serving.fixture, calling.fixture).map((each) => {
    const about = { served: serving.name, calling: calling.name, case: each.name };
    const verdict = each.gap !== undefined ? "gap" : isRun(pair) ? "failed" : "passed";
    return { ...each, at: verdicts.push({ ...about, verdict, says: each.gap }) - 1 };
  });
  if (!isRun(pair)) continue;
  describe(`${calling.name} calls ${serving.name}`, () => {
    for (const { name, timeoutMs, gap, run, at } of cases) {
      test(name, { timeout: timeoutMs }, async ({ skip }) => {
        skip(gap !== undefined, gap);
        await run();
        verdicts[at] = { ...verdicts[at]!, verdict: "passed" };
      });
    }
  });
}

if (mode === "test") {
  const inPython = pairs.filter(RUNS["python"]!).length;
  test(`the ${inPython} pairs with frameworks in Python`, ({ skip }) => {
    skip("they need environments, which npm run test:python makes, and runs them");
  });
  test(`the ${pairs.filter(RUNS["kaiban"]!).length} pairs with KaibanJS`, ({ skip }) => {
    skip("it has an installation of its own: pnpm --dir apps/matrix run test:kaiban runs them");
  });
  test(`the ${pairs.filter(isWithOpenClaw).length} pairs with OpenClaw`, ({ skip }) => {
    skip(
      "it has an installation of its own: pnpm --dir apps/matrix run test:openclaw runs a few of them, and openclaw-all runs them all",
    );
  });
}

// Pairs of another run count as passed here, because that run checks them.
test("the table in MATRIX.md matches this run", async () => {
  const names = all.map(({ name }) => name);
  const text = matrixAsMarkdown(names, verdicts);
  await expect(`${HEAD}\n\n${text}\n`).toMatchFileSnapshot("../MATRIX.md");
});

const HEAD = [
  "# Any pair works",
  "",
  "Every framework as what is served, called from every framework: each number says how many of the cases hold between the two. Written by `pnpm --dir apps/matrix run write`, and compared by the tests with what they see.",
].join("\n");
