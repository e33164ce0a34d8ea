import assert from "node:assert/strict";
import { globSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { faultsBeside, planted } from "./sabotage-fault.mjs";
import { sabotageAsJson, sabotageLine } from "./sabotage.mjs";
import { packages, root } from "./workspace.mjs";

const fault = { name: "a name is dropped", file: "a.ts", from: "name,", to: "" };

test("a fault replaces its text literally", () => {
  assert.equal(planted("{ name, text }", { ...fault, to: "$& $1," }), "{ $& $1, text }");
});

test("a fault whose text is missing or occurs twice is refused", () => {
  for (const source of ["{ text }", "name, name,"]) {
    assert.throws(() => planted(source, fault), /"a name is dropped" does not fit a\.ts any more/);
  }
});

test("the faults beside a fixture are checked against their sources before any is planted", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "waybill-faults-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const fixture = join(folder, "conformance-fixture.ts");
  assert.equal(faultsBeside(fixture), undefined);
  writeFileSync(join(folder, "sabotage.json"), JSON.stringify([{ ...fault, fixture: "b.ts" }]));
  writeFileSync(join(folder, "a.ts"), "{ name, text }");
  const [found] = faultsBeside(fixture);
  assert.deepEqual([found.file, found.fixture], [join(folder, "a.ts"), join(folder, "b.ts")]);
  writeFileSync(join(folder, "a.ts"), "{ text }");
  assert.throws(() => faultsBeside(fixture), /does not fit/);
});

const tables = packages().flatMap(({ folder }) =>
  globSync(["src/{,*/}sabotage.json", "with-*/sabotage.json"], { cwd: join(root, folder) }).map(
    (path) => join(root, folder, path),
  ),
);

test("every fault of every adapter fits its source", () => {
  assert.ok(tables.length > 0);
  for (const table of tables) faultsBeside(table);
});

test("every fault of every adapter names cases of the suite", async () => {
  const conformance = pathToFileURL(join(root, "packages/conformance/src/index.ts"));
  const { adapterSuite } = await import(conformance.href);
  const names = adapterSuite({ adapter: "any", serve: {}, call: {} }).map(({ name }) => name);
  const unknown = tables.flatMap((table) =>
    faultsBeside(table)
      .flatMap(({ cases }) => cases)
      .filter((part) => !names.some((name) => name.includes(part))),
  );
  assert.deepEqual(unknown, []);
});

test("programs get one line, and people see a missed fault clearly", () => {
  const report = { adapter: "echo", planted: 2, caught: 1, missed: ["b"], results: [] };
  assert.equal(sabotageAsJson(report), '{"adapter":"echo","planted":2,"caught":1,"missed":["b"]}');
  assert.match(sabotageLine({ name: "b" }), /^MISSED {2}b\n {8}no case fails$/);
});
