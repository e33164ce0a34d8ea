import { createAgent } from "@waybill/agent";
import { connect } from "@waybill/agent/connect";
import { expect, onTestFinished, test } from "vitest";
import { describeInChromium, say, startChat } from "./chat-fixture.ts";

describeInChromium("a page with useChat", () => {
  /** A writer in another process's place: connected over the network, and told when to go on. */
  async function withWriter() {
    const chat = await startChat();
    const goOn = Promise.withResolvers<void>();
    const stopped = Promise.withResolvers<void>();
    const hub = await connect(chat.url);
    const writer = createAgent({ id: "writer", hub });
    let runs = 0;
    writer.serve({ name: "write", takes: "delegation" }, async ({ progress, delta, signal }) => {
      runs++;
      signal.addEventListener("abort", () => stopped.resolve(), { once: true });
      await progress({ message: "All about tides." });
      delta("The sea ");
      await goOn.promise;
      return "The sea is calm.";
    });
    await writer.start();
    onTestFinished(async () => {
      goOn.resolve();
      await writer.stop({ mode: "abandon" });
      await hub.close();
    });
    return { chat, goOn, stopped, runs: () => runs };
  }

  test("shows the progress and the text of an agent two hops away while it works, and its result", async () => {
    const { chat, goOn } = await withWriter();
    const page = await chat.open();
    await say(page, "Write about the sea.");
    await page.locator("[data-part=progress]", { hasText: "All about tides." }).waitFor();
    await page.locator("[data-part=text]", { hasText: "The sea" }).waitFor();
    expect(await page.locator("[data-stage=done]").count()).toBe(0);
    goOn.resolve();
    await page.locator("[data-stage=done]", { hasText: "Here it is." }).waitFor();
    await page.locator("[data-part=said]", { hasText: "Here it is." }).waitFor();
    await page.locator("main[data-status=ready]").waitFor();
  });

  test("stops the agent two hops away when the user stops", async () => {
    const { chat, stopped } = await withWriter();
    const page = await chat.open();
    await say(page, "Write about the sea.");
    await page.locator("[data-part=text]", { hasText: "The sea" }).waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await stopped.promise;
    await page.locator("main[data-status=ready]").waitFor();
  });

  test("hands off only once the user has approved it", async () => {
    const { chat, goOn, runs } = await withWriter();
    const page = await chat.open({ toolApproval: { report: "user-approval" } });
    await say(page, "Write about the sea.");
    const approve = page.getByRole("button", { name: "Approve" });
    await approve.waitFor();
    expect(runs()).toBe(0);
    goOn.resolve();
    await approve.click();
    await page.locator("[data-stage=done]", { hasText: "Here it is." }).waitFor();
    expect(runs()).toBe(1);
  });
});
