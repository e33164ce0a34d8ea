import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { downloadSuite } from "./download.ts";
import { judgeSuite } from "./judge.ts";
import { hasTable, tableOf } from "./table.ts";

let folder: string | undefined;
let missing = "";
try {
  folder = await downloadSuite();
} catch (error) {
  missing = `the suite can't be downloaded: ${String(error)}`;
}

// Set if every peer was installed before, so that a missing one is an error and not a skip.
if (folder === undefined && process.env["WAYBILL_PEERS"] === "required") {
  test("the official test suite", () => expect.fail(missing));
}

describe.skipIf(folder === undefined)(
  folder === undefined
    ? `the official test suite (skipped: ${missing})`
    : "the official test suite",
  () => {
    const files = folder === undefined ? [] : judgeSuite(folder);

    test.each(files.map((each) => [each.name, each] as const))(
      "gives %s no wrong verdict, and refuses only for known reasons",
      (_, { wrong, right, refused }) => {
        expect(wrong).toEqual([]);
        expect(right + refused.size).toBeGreaterThan(0);
      },
    );

    test("is judged as the README says", () => {
      const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
      expect(hasTable(readme, tableOf(files)), "run: pnpm suite").toBe(true);
    });
  },
);
