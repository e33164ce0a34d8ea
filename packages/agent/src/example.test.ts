/// <reference types="node" />
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";

const README = new URL("../README.md", import.meta.url);

let keys: string;
beforeAll(async () => {
  keys = await mkdtemp(join(tmpdir(), "waybill-example-"));
});
afterAll(() => rm(keys, { recursive: true }));

async function printed(name: string): Promise<string> {
  const example = new URL(`../examples/${name}.ts`, import.meta.url);
  const env = { ...process.env, WAYBILL_KEYS: keys };
  return (await promisify(execFile)(process.execPath, [example.pathname], { env })).stdout;
}

for (const name of ["first", "network"]) {
  test(`the example ${name} of the README prints its documented output`, async () => {
    const example = await readFile(new URL(`../examples/${name}.ts`, import.meta.url), "utf8");
    const readme = await readFile(README, "utf8");
    expect(readme).toContain(`\`\`\`ts\n${example}\`\`\``);
    expect(readme).toContain(`\`\`\`text\n${await printed(name)}\`\`\``);
  });
}

test("the example of declared capabilities runs", async () => {
  expect(await printed("declared")).toBe(
    "{ text: 'a bill of lading (de)', words: 4 }\n[ 1, 2, 3 ]\n[ 'fulfilled', 'fulfilled', 'fulfilled' ]\n",
  );
});

test("the example of files runs", async () => {
  expect(await printed("files")).toBe("interview.txt: 29 bytes, saved.\n");
});

test("the example of the contract for adapters runs", async () => {
  expect(await printed("adapter")).toBe("Which icing?\nA cake with lemon\nlemon tastes good\n");
});
