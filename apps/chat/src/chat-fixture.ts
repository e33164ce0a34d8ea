/// <reference types="node" />
import { existsSync } from "node:fs";
import process from "node:process";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { remoteTool, serveAgent } from "@waybill/adapter-ai-sdk";
import { createAgent } from "@waybill/agent";
import type { Agent } from "@waybill/agent";
import { memoryStore, openHub } from "@waybill/hub";
import type { HubServer } from "@waybill/hub";
import { startScriptedModel } from "@waybill/scripted-model";
import { serveHub } from "@waybill/server";
import { ToolLoopAgent } from "ai";
import type { LanguageModel } from "ai";
import { chromium } from "playwright-core";
import type { Page } from "playwright-core";
import { describe, expect, onTestFinished, test } from "vitest";
import { serveChat } from "./chat-server.ts";
import type { ChatOptions } from "./chat-server.ts";

const CHROMIUM = [process.env["CHROMIUM_PATH"], "/usr/bin/chromium"].find(
  (path) => path !== undefined && existsSync(path),
);
const MISSING = "no Chromium: install it, or name it in CHROMIUM_PATH";
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--no-first-run",
  "--disable-background-networking",
];

/** Tests with a browser. Where every optional dependency is installed, a missing one is a failure. */
export function describeInChromium(name: string, tests: () => void): void {
  if (CHROMIUM === undefined && process.env["WAYBILL_PEERS"] === "required")
    test("a browser", () => expect.fail(MISSING));
  const title = CHROMIUM === undefined ? `${name} (skipped: ${MISSING})` : name;
  describe.skipIf(CHROMIUM === undefined)(title, () => {
    tests();
  });
}

/** A hub on the network, with an agent in between that hands off what it is handed. */
export interface Chat {
  readonly hub: HubServer;
  /** The address of the hub. */
  readonly url: string;
  agent(id: string): Agent;
  /** Opens the page, whose model hands off to the agent in between. */
  open(options?: Pick<ChatOptions, "toolApproval">): Promise<Page>;
}

/**
 * A chat that hands off to the newsroom, an agent of the SDK, which hands off to whoever can write.
 */
export async function startChat(): Promise<Chat> {
  const store = memoryStore();
  const hub = await openHub({ store });
  const served = await serveHub({ hub, store, port: 0 });
  const agents: Agent[] = [];
  onTestFinished(async () => {
    await Promise.all(agents.map((each) => each.stop({ mode: "abandon" })));
    await served.close();
    await hub.close();
  });
  const agent = (id: string): Agent => {
    const made = createAgent({ id, hub });
    agents.push(made);
    return made;
  };
  return {
    hub,
    url: `http://127.0.0.1:${served.port}`,
    agent,
    async open(options = {}) {
      const newsroom = agent("newsroom");
      const editor = new ToolLoopAgent({
        id: "editor",
        model: await asking("write"),
        tools: { write: remoteTool(newsroom, await found(hub, "write")) },
      });
      newsroom.serve(...serveAgent(editor, { name: "report", takes: "delegation" }));
      await newsroom.start();
      const report = await found(hub, "report");
      const web = agent("web");
      const chat = await serveChat({
        model: await asking("report"),
        tools: (run) => ({ report: remoteTool(web, report, { run }) }),
        ...options,
      });
      const browser = await chromium.launch({ executablePath: CHROMIUM!, args: FLAGS });
      onTestFinished(async () => {
        await browser.close();
        await chat.close();
      });
      const page = await browser.newPage();
      await page.goto(chat.url);
      return page;
    },
  };
}

/** Asks the chat for something. */
export async function say(page: Page, text: string): Promise<void> {
  await page.locator("input").fill(text);
  await page.getByRole("button", { name: "Send" }).click();
}

async function found(hub: HubServer, name: string) {
  return (await hub.find({ capability: name })).fits[0]!.capability;
}

/** A model that hands off by its tool, and then tells that it is done. */
async function asking(name: string): Promise<LanguageModel> {
  const model = await startScriptedModel(({ body }) =>
    body.messages.at(-1).role === "tool"
      ? { text: "Here it is." }
      : { calls: [{ name, arguments: { instruction: "tides" } }] },
  );
  onTestFinished(() => model.close());
  return createOpenAICompatible({ name: "s", baseURL: model.url, apiKey: "none" }).chatModel("s");
}
