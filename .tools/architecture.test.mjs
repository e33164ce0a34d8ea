import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import test from "node:test";

const PACKAGES = new URL("../packages/", import.meta.url);
const PAGE = readFileSync(new URL("README.md", PACKAGES), "utf8");
/** With more files, the path of a handoff could not be followed on one page. */
const FILES_ON_THE_WAY = 25;

/** The files that the page names, in order. */
const files = [...PAGE.matchAll(/`([a-z-]+\/[\w./-]+\.(?:ts|py|md))`/g)].map(([, file]) => file);

/** The rows of the tables that name something and its file. */
const named = [...PAGE.matchAll(/^\|.*$/gm)].flatMap(([row]) => {
  const step = row.match(/`(\w+)` in `([^`]+)`/) ?? row.match(/^\| `(\w+)`\s+\|.*\| `([^`]+\.ts)`/);
  return step === null ? [] : [{ name: step[1], file: step[2] }];
});

test("every file on the architecture page exists", () => {
  assert.ok(files.length > 40);
  assert.deepEqual(
    files.filter((file) => !existsSync(new URL(file, PACKAGES))),
    [],
  );
});

test("every name on the architecture page is declared in its file", () => {
  assert.ok(named.length > 30);
  const missing = named.filter(({ name, file }) => {
    const declared = new RegExp(
      `(class|interface|function\\*?|const|type) ${name}\\b|^ {2}(async )?${name}[(<]|^ {2,4}(const )?${name}\\b.*=`,
      "m",
    );
    return !declared.test(readFileSync(new URL(file, PACKAGES), "utf8"));
  });
  assert.deepEqual(missing, []);
});

test("the path of one handoff has at most 25 files, and its steps are in order", () => {
  const steps = [...PAGE.matchAll(/^\| (\d+) +\| `\w+` in `([^`]+)`/gm)];
  assert.deepEqual(
    steps.map(([, number]) => Number(number)),
    steps.map((_, index) => index + 1),
  );
  const onTheWay = new Set(steps.map(([, , file]) => file));
  assert.ok(onTheWay.size >= 15 && onTheWay.size <= FILES_ON_THE_WAY, `${onTheWay.size} files`);
});

test("CONTRIBUTING links the architecture page first", () => {
  const contributing = readFileSync(new URL("../CONTRIBUTING.md", import.meta.url), "utf8");
  const [, first] = contributing.match(/\]\(([^)]+)\)/);
  assert.equal(first, "packages/README.md");
});
