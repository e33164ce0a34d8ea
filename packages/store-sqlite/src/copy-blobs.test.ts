/// <reference types="node" />
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { newId } from "@waybill/protocol";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { locate, remove } from "./store-fixture.ts";

const PROGRAM = fileURLToPath(new URL("copy-process-fixture.ts", import.meta.url));
const hasStrace = spawnSync("strace", ["-f", "-o", "/dev/null", "true"]).status === 0;

let path: string;
beforeEach(async () => {
  path = await locate();
});
afterEach(() => remove(path));

describe.runIf(hasStrace)("copied blobs", () => {
  test("are synced one after the other, and then their folder", () => {
    const [from, to] = [`${path}-from`, `${path}-to`];
    const trace = join(dirname(path), "trace");
    mkdirSync(from);
    const names = Array.from({ length: 3 }, () => `${"ab".repeat(32)}.${newId()}`);
    for (const name of names) writeFileSync(join(from, name), "a film");
    // A copy that nothing waits for is late, so that the sync of the folder overtakes its own.
    const late = ["-e", "inject=fchmod:delay_enter=100000"];
    const traced = ["-e", "trace=fsync,fdatasync,fchmod", "-o", trace];
    const strace = ["-f", "-y", "-qq", ...traced, ...late];
    const { status } = spawnSync("strace", [...strace, process.execPath, PROGRAM, from, to], {
      env: { ...process.env, NODE_V8_COVERAGE: "" },
    });
    expect(status).toBe(0);
    const synced = [...readFileSync(trace, "utf8").matchAll(/sync\(\d+<([^>]+)>/g)]
      .map(([, file]) => file!)
      .filter((file) => file.startsWith(to));
    expect(
      synced
        .slice(0, names.length)
        .map((file) => basename(file))
        .toSorted(),
    ).toEqual(names.toSorted());
    expect(synced.slice(names.length)).toEqual([to]);
  });
});
