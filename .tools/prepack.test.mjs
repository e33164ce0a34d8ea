import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { unbuilt } from "./prepack.mjs";

const PREPACK = fileURLToPath(new URL("prepack.mjs", import.meta.url));

test("a package that is not built is not packed, and its missing files are named", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "prepack-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const publishConfig = {
    exports: { ".": { types: "./dist/index.d.ts", default: "./dist/index.js" } },
    bin: "./dist/index.js",
  };
  writeFileSync(join(folder, "package.json"), JSON.stringify({ publishConfig }));
  assert.deepEqual(unbuilt(folder), ["./dist/index.d.ts", "./dist/index.js"]);
  const prepack = () => spawnSync("node", [PREPACK], { cwd: folder, encoding: "utf8" });
  const refused = prepack();
  assert.equal(refused.status, 1);
  assert.match(refused.stderr, /is not built: \.\/dist\/index\.d\.ts, \.\/dist\/index\.js are/);

  mkdirSync(join(folder, "dist"));
  for (const file of ["index.js", "index.d.ts"]) writeFileSync(join(folder, "dist", file), "");
  assert.deepEqual(unbuilt(folder), []);
  assert.equal(prepack().status, 0);
});
