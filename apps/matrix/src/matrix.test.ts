import { pairSuite } from "@waybill/conformance";
import { describe, expect, test } from "vitest";
import { frameworks } from "./frameworks.ts";
import { matrixAsMarkdown } from "./table.ts";
import type { Verdict } from "./table.ts";

const all = await frameworks();
const verdicts: Verdict[] = [];

for (const served of all) {
  for (const calling of all) {
    describe(`${calling.name} calls ${served.name}`, () => {
      for (const { name, timeoutMs, run } of pairSuite(served.fixture, calling.fixture)) {
        test(name, { timeout: timeoutMs }, async ({ skip }) => {
          const about = { served: served.name, calling: calling.name, case: name };
          const at = verdicts.push({ ...about, verdict: "failed" }) - 1;
          const gap = await run();
          verdicts[at] = { ...about, verdict: gap === undefined ? "passed" : "gap", says: gap };
          skip(gap !== undefined, gap);
        });
      }
    });
  }
}

test("the table in MATRIX.md is what this run has seen", async () => {
  const names = all.map(({ name }) => name);
  const text = matrixAsMarkdown(names, verdicts);
  await expect(`${HEAD}\n\n${text}\n`).toMatchFileSnapshot("../MATRIX.md");
});

const HEAD = [
  "# Any pair works",
  "",
  "Every framework as what is served, called from every framework: each number says how many of the cases hold between the two. Written by `pnpm --dir apps/matrix run write`, and compared by the tests with what they see.",
].join("\n");
