/// <reference types="node" />
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { pythonOf, SILENT } from "@waybill/interop/src/python-peer.ts";
import { expect, onTestFinished, test } from "vitest";
import { describeInChromium, say, startChat } from "./chat-fixture.ts";

/** Starts the crew, and returns once it is on the hub. */
async function startCrew(url: string): Promise<{ goOn(): void }> {
  const folder = mkdtempSync(join(tmpdir(), "waybill-chat-"));
  const script = fileURLToPath(new URL("crew.py", import.meta.url));
  const crew = spawn(pythonOf("crewai"), [script, url], {
    stdio: ["pipe", "pipe", "inherit"],
    env: { ...process.env, ...SILENT, HOME: folder, WAYBILL_KEYS: join(folder, "keys") },
  });
  onTestFinished(async () => {
    const ended = new Promise((resolve) => crew.once("close", resolve));
    crew.kill("SIGKILL");
    await ended;
    rmSync(folder, { recursive: true });
  });
  for await (const line of createInterface({ input: crew.stdout })) if (line === "ready") break;
  return { goOn: () => void crew.stdin.write("go on\n") };
}

describeInChromium("a page with useChat, and a crew of CrewAI", () => {
  test("shows what the crew's tasks have ended with, and what its model writes, while it works", async () => {
    const chat = await startChat();
    const { goOn } = await startCrew(chat.url);
    const page = await chat.open();
    await say(page, "Write about the sea.");
    // The first task's output is progress of the crew, two hops away.
    await page.locator("[data-part=progress]", { hasText: "All about tides." }).waitFor();
    await page.locator("[data-part=text]", { hasText: "The sea" }).waitFor();
    expect(await page.locator("[data-stage=done]").count()).toBe(0);
    goOn();
    await page.locator("[data-part=said]", { hasText: "Here it is." }).waitFor();
    await page.locator("main[data-status=ready]").waitFor();
  });
});
