/// <reference types="node" />
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { consolePage } from "./page.ts";

/** What the first view may load, compressed. */
const SCRIPT_BYTES = 200_000;

test("the page is built from the sources, and loads at most 200 kB of script first", async () => {
  const { files } = await consolePage();
  const index = Buffer.from(files.get("index.html")!.bytes).toString();
  const scripts = [...index.matchAll(/(?:src|href)="\/console\/([\w.-]+\.js)"/g)];
  expect(scripts.length).toBeGreaterThan(0);
  const bytes = scripts.map(([, name]) => files.get(name!)!.compressed.length);
  expect(bytes.reduce((sum, each) => sum + each, 0)).toBeLessThan(SCRIPT_BYTES);
});

test("the page names nothing elsewhere, and has no script or style of its own in its HTML", async () => {
  const { files } = await consolePage();
  const index = Buffer.from(files.get("index.html")!.bytes).toString();
  expect(index).not.toMatch(/https?:|\/\/|<style|style=|\son\w+=/);
  expect(index.match(/<script/g)).toHaveLength(1);
});

test("every file is compressed without loss", async () => {
  const { files } = await consolePage();
  for (const { bytes, compressed } of files.values()) {
    expect(gunzipSync(compressed).equals(bytes)).toBe(true);
  }
});

test("the example of the README prints its documented output", async () => {
  const example = new URL("../examples/first.ts", import.meta.url);
  const { stdout } = await promisify(execFile)(process.execPath, [example.pathname]);
  const readme = await readFile(new URL("../README.md", import.meta.url), "utf8");
  expect(readme).toContain(`\`\`\`ts\n${await readFile(example, "utf8")}\`\`\``);
  expect(readme).toContain(`\`\`\`text\n${stdout}\`\`\``);
});
