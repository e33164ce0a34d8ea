/// <reference types="node" />
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";

const EXAMPLE = new URL("../examples/first.ts", import.meta.url);

let keys: string;
beforeAll(async () => {
  keys = await mkdtemp(join(tmpdir(), "waybill-example-"));
});
afterAll(() => rm(keys, { recursive: true }));

test("the example of the README prints its documented output", async () => {
  const env = { ...process.env, WAYBILL_KEYS: keys };
  const { stdout } = await promisify(execFile)(process.execPath, [EXAMPLE.pathname], { env });
  const readme = await readFile(new URL("../README.md", import.meta.url), "utf8");
  expect(readme).toContain(`\`\`\`ts\n${await readFile(EXAMPLE, "utf8")}\`\`\``);
  expect(readme).toContain(`\`\`\`text\n${stdout}\`\`\``);
});
