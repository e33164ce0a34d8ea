/// <reference types="node" />
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { Journal } from "./journal.ts";

function file(): string {
  const folder = mkdtempSync(join(tmpdir(), "journal-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, "lines.ndjson");
}

test("appended lines are there in the next life", () => {
  const path = file();
  const first = new Journal<{ n: number }>(path);
  first.append({ n: 1 });
  first.append({ n: 2 });
  first.close();
  expect(new Journal(path).lines).toEqual([{ n: 1 }, { n: 2 }]);
});

test("an incomplete last line is dropped", () => {
  const path = file();
  const first = new Journal<{ text: string }>(path);
  first.append({ text: "ü" });
  first.close();
  appendFileSync(path, '{"text":"cu');
  const second = new Journal<{ text: string }>(path);
  expect(second.lines).toEqual([{ text: "ü" }]);
  second.append({ text: "whole" });
  expect(readFileSync(path, "utf8")).toBe('{"text":"ü"}\n{"text":"whole"}\n');
});
