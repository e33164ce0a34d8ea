/// <reference types="node" />
import { execFile } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { openGateway } from "@waybill/adapter-openclaw";
import type { Gateway } from "@waybill/adapter-openclaw";
import { createAgent } from "@waybill/agent";
import type { Agent } from "@waybill/agent";
import { wordsOf } from "@waybill/agent/adapter";
import { memoryStore, openHub } from "@waybill/hub";
import { serveHub } from "@waybill/server";
import { startScriptedModel } from "@waybill/scripted-model";
import type { Reply } from "@waybill/scripted-model";
import { afterAll, beforeAll, expect, test } from "vitest";
import { GatewayProcess, OPENCLAW, TOKEN } from "./gateway-fixture.ts";
import { installPacked } from "./packed-fixture.ts";

/** What the model says to what it was told last. */
let say: (told: string) => Reply;
let remote: Agent;
let gateway: GatewayProcess;
let operator: Gateway;
const closing: (() => Promise<unknown>)[] = [];

/** Works on `slow` work until it is told to go on, and asks about work that is not clear. */
let goOn = Promise.withResolvers<void>();
let started = Promise.withResolvers<void>();

beforeAll(async () => {
  const store = memoryStore();
  const hub = await openHub({ store });
  const served = await serveHub({ hub, store });
  remote = createAgent({ id: "remote", hub });
  remote.serve({ name: "translate", takes: "delegation" }, async ({ body, ask }) => {
    const { instruction } = body.brief!;
    started.resolve();
    if (instruction === "slow") await goOn.promise;
    if (instruction === "unclear")
      return `Into ${wordsOf(await ask({ id: "into", text: "Into what?" }))}.`;
    return `Done: ${instruction}.`;
  });
  await remote.start();
  const model = await startScriptedModel(({ body }) => {
    return say(toldLast(body.messages as readonly ModelMessage[]));
  });
  gateway = await GatewayProcess.prepare(model.url);
  const folder = await installPacked(join(gateway.folder, "packed"));
  await openclaw("plugins", "install", "--link", "--force", "--accept-capabilities", folder);
  await gateway.configure(({ plugins }) => {
    plugins!.entries["waybill"]!.config = { hub: served.url, waitSeconds: 2 };
  });
  await gateway.start();
  operator = await openGateway({ url: gateway.url, token: TOKEN });
  closing.push(
    () => operator.close(),
    () => gateway.dispose(),
    () => model.close(),
    () => remote.stop({ mode: "abandon" }),
    () => served.close(),
    () => hub.close(),
  );
});

afterAll(async () => {
  for (const close of closing) await close();
});

interface ModelMessage {
  readonly role: string;
  readonly content: unknown;
}

/** OpenClaw's own remarks come after what its agent was told. */
function toldLast(messages: readonly ModelMessage[]): string {
  const texts = messages.map(({ content }) => JSON.stringify(content));
  return texts.findLast((text) => !text.includes("OPENCLAW_INTERNAL_CONTEXT"))!;
}

function openclaw(...args: readonly string[]) {
  return promisify(execFile)(process.execPath, [OPENCLAW, ...args], { env: gateway.env });
}

let turns = 0;

/** One turn of the agent, to its end. */
async function turn(sessionKey: string, message: string): Promise<void> {
  const idempotencyKey = `turn-${++turns}`;
  await operator.request("agent", { message, sessionKey, idempotencyKey, deliver: false });
  for (let status = "timeout"; status === "timeout" || status === "pending";) {
    const waiting = { runId: idempotencyKey, timeoutMs: 10_000 };
    ({ status } = await operator.request<{ status: string }>("agent.wait", waiting));
  }
}

/** What stands in a session, as texts. */
async function transcript(sessionKey: string): Promise<string[]> {
  const { messages } = await operator.request<{ messages: readonly ModelMessage[] }>(
    "chat.history",
    { sessionKey, limit: 100 },
  );
  return messages.map(({ content }) => JSON.stringify(content));
}

/** Settles when these words have come into a session. */
async function isSaidIn(sessionKey: string, words: string): Promise<void> {
  for (;;) {
    const { promise: happened, resolve } = Promise.withResolvers<void>();
    const stop = operator.listen(() => resolve());
    if ((await transcript(sessionKey)).some((text) => text.includes(words))) return stop();
    await happened;
    stop();
  }
}

const handing = (instruction: string): Reply => ({
  calls: [{ name: "handoff", arguments: { capability: "translate", instruction } }],
});

test("an agent finds another one, and gets its result as data", async () => {
  say = (last) => {
    if (last.includes("Who translates?"))
      return { calls: [{ name: "find", arguments: { capability: "translate" } }] };
    return last.includes("name: translate") ? handing("quick") : { text: "There it is." };
  };
  await turn("agent:main:quick", "Who translates?");
  const [, , found, , result] = await transcript("agent:main:quick");
  expect(found).toContain("remote");
  expect(result).toMatch(/<untrusted-result>.*Done: quick\./);
});

test("a question of the other agent is answered with the tool", async () => {
  say = (last) => {
    if (last.includes("Translate it.")) return handing("unclear");
    const id = /Handoff ([0-9a-f-]{36}) waits/.exec(last)?.[1];
    if (id === undefined) return { text: "There it is." };
    const given = { handoff_id: id, question_id: "into", answer: "Norwegian" };
    return { calls: [{ name: "answer", arguments: given }] };
  };
  await turn("agent:main:unclear", "Translate it.");
  expect((await transcript("agent:main:unclear")).at(-2)).toContain("Into Norwegian.");
});

test("a long handoff returns at once, and its result is announced once, after a gateway that was killed", async () => {
  [goOn, started] = [Promise.withResolvers(), Promise.withResolvers()];
  say = (last) => {
    if (last.includes("Take your time.")) return handing("slow");
    if (last.includes("Who translates?"))
      return { calls: [{ name: "find", arguments: { capability: "translate" } }] };
    return { text: last.includes("is completed") ? "At last." : "Well." };
  };
  await turn("agent:main:slow", "Take your time.");
  expect((await transcript("agent:main:slow")).at(-2)).toContain("is under way");
  await gateway.kill();
  await gateway.start();
  // A tool that is used before the end comes has the gateway register the plugin once more.
  await turn("agent:main:other", "Who translates?");
  goOn.resolve();
  await isSaidIn("agent:main:slow", "At last.");
  // Another restart finds nothing left to tell.
  await gateway.kill();
  await gateway.start();
  await turn("agent:main:slow", "Anything new?");
  const said = await transcript("agent:main:slow");
  expect(said.filter((text) => text.includes("Done: slow."))).toHaveLength(1);
});

test("a handoff whose tool call is killed with the gateway is announced", async () => {
  [goOn, started] = [Promise.withResolvers(), Promise.withResolvers()];
  say = (last) => (last.includes("Take all day.") ? handing("slow") : { text: "Well." });
  const message = "Take all day.";
  const sessionKey = "agent:main:killed";
  await operator.request("agent", {
    message,
    sessionKey,
    idempotencyKey: "killed",
    deliver: false,
  });
  await started.promise;
  await gateway.kill();
  goOn.resolve();
  await gateway.start();
  await isSaidIn(sessionKey, "Done: slow.");
  const said = await transcript(sessionKey);
  expect(said.filter((text) => text.includes("Done: slow."))).toHaveLength(1);
});
