import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import test from "node:test";
import { machine } from "./machine.mjs";

test("only installing a program changes a machine's line", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "machine-"));
  const before = process.env.PATH;
  t.after(() => {
    process.env.PATH = before;
    rmSync(folder, { recursive: true });
  });
  process.env.PATH = folder;
  const without = machine();
  assert.equal(machine(), without);
  assert.doesNotMatch(without, /\bfish\b/);
  writeFileSync(join(folder, "fish"), "#!/bin/sh\n", { mode: 0o755 });
  process.env.PATH = [folder, "/bin"].join(delimiter);
  assert.match(machine(), /\bfish\b/);
});
