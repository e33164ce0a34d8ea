/// <reference types="node" />
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { WaybillError } from "@waybill/protocol";
import { expect, onTestFinished, test } from "vitest";
import { answerCalls } from "./answerer.ts";
import { Caller } from "./caller.ts";

function socket(): string {
  const folder = mkdtempSync(join(tmpdir(), "line-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "socket");
}

test("a call made before the far end listens is answered later", async () => {
  const path = socket();
  const caller = new Caller(path);
  onTestFinished(() => caller.close());
  const answer = caller.call("twice", 21);
  const server = await answerCalls(path, () => ({
    answer: async (_call, [number]) => Number(number) * 2,
    heard: () => undefined,
    gone: () => undefined,
  }));
  onTestFinished(() => void server.close());
  expect(await answer).toBe(42);
});

test("errors are transmitted whole, and so are empty answers", async () => {
  const path = socket();
  const server = await answerCalls(path, () => ({
    answer: async (call) => {
      if (call === "fail") throw new WaybillError(406, "Not so.", { at: "/x", retryAfterMs: 5 });
    },
    heard: () => undefined,
    gone: () => undefined,
  }));
  onTestFinished(() => void server.close());
  const caller = new Caller(path);
  onTestFinished(() => caller.close());
  await expect(caller.call("fail")).rejects.toMatchObject({
    status: 406,
    message: "Not so.",
    at: "/x",
    retryAfterMs: 5,
  });
  expect(await caller.call("nothing")).toBeUndefined();
});
