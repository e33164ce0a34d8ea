/// <reference types="node" />
import { readFile } from "node:fs/promises";
import { readLedger, verifyLedger } from "@waybill/hub";
import { newId } from "@waybill/protocol";
import { expect, test } from "vitest";
import { describeConsole, waitForCount } from "./console-fixture.ts";

describeConsole("the views of the console", (world) => {
  test("a job shows live who handed what to whom, and when each attempt ran", async () => {
    const ready = Promise.withResolvers<void>();
    await world.researcher("anna", ready.promise);
    await world.researcher("bert");
    const editor = await world.agent("editor");
    const correlationId = newId();
    const work = (to: string) =>
      editor.handoff({ to, capability: "research", input: { topic: to }, correlationId });
    const slow = work("anna");
    await slow.accepted;
    const page = await world.view(`/jobs/${correlationId}`);
    const sequence = page.getByRole("img", { name: /steps between 2 agents/ });
    await sequence.getByText("hands off research").waitFor();
    await page
      .getByRole("img", { name: /Attempts of 1 handoffs/ })
      .getByText(/left$/)
      .waitFor();
    await page.getByText("1 handoff, 1 open").waitFor();

    await work("bert").result;
    await page.getByText("2 handoffs, 1 open").waitFor();
    await page
      .getByRole("img", { name: /steps between 3 agents/ })
      .getByText("result")
      .waitFor();
    ready.resolve();
    await slow.result;
    await page.getByText("2 handoffs, 0 open").waitFor();
    await page.getByLabel("Contains").fill("bert");
    await page.getByText("1 of 2").waitFor();
    await page.getByRole("link", { name: slow.id.slice(-8) }).waitFor({ state: "detached" });
  });

  test("two operators: one discards dead letters, and the other sees them go", async () => {
    const ids = await world.deadLetters(12);
    const first = await world.view("/dead-letters");
    const second = await world.view("/dead-letters", await world.link("operator"));
    for (const page of [first, second]) await page.getByText("12 of 12").waitFor();

    await first.getByLabel("Contains").fill(ids[0]!);
    await first.getByText("1 of 12").waitFor();
    await first.getByLabel("Contains").fill("editor");
    await first.getByRole("button", { name: "Choose all shown" }).click();
    await first.getByRole("checkbox", { name: ids[3]! }).uncheck();
    await first.getByRole("button", { name: "Enrol a key" }).click();
    await first.getByRole("button", { name: "Discard 11 chosen" }).click();
    await first.getByLabel("Reason").fill("sent twice");
    await first.getByRole("button", { name: "Discard", exact: true }).click();
    await first.getByText(/11 of 11 discarded/).waitFor();
    for (const page of [first, second]) {
      await page.getByText("1 of 1", { exact: true }).waitFor();
      await page.getByRole("link", { name: `…${ids[3]!.slice(-8)}` }).waitFor();
    }
    const listed = (await world.place.json(["dead-letters", "list"])) as {
      dead_letters?: unknown[];
    };
    expect(JSON.stringify(listed)).toContain(ids[3]);
    expect(JSON.stringify(listed)).not.toContain(ids[4]);
  });

  test("a reader sees dead letters, and has nothing to discard them with", async () => {
    await world.deadLetters(1);
    const page = await world.view("/dead-letters", await world.link("reader"));
    await page.getByText("1 of 1", { exact: true }).waitFor();
    await page.getByText("Only an operator can replay or discard").waitFor();
    expect(await page.getByRole("button", { name: /Discard|Replay|Enrol/ }).count()).toBe(0);
    await page.getByText("Reader: can't change anything").waitFor();
  });

  test("an agent's manifests are checked, and its schema reads as a table", async () => {
    await world.researcher("anna");
    const page = await world.view("/agents");
    await page.getByRole("link", { name: "anna" }).click();
    await page.getByText("1 manifest holds: checked here").waitFor();
    await page.getByRole("cell", { name: "what to look up" }).waitFor();
    await page.getByText("90.0 % reliability").waitFor();
    await page.getByRole("region", { name: "Keys" }).getByRole("row").nth(1).waitFor();
  });

  test("what was measured of an agent stands beside what it claims", async () => {
    await world.researcher("anna");
    const editor = await world.agent("editor");
    for (let count = 0; count < 6; count++) {
      const work = { to: "anna", capability: "research", input: { topic: "closed" } };
      await editor.handoff(work).result.catch(() => undefined);
    }
    const page = await world.view("/");
    const card = page.getByRole("listitem").filter({ hasText: "anna" });
    await card.getByText(/research: \d+\.\d % measured, 90\.0 % claimed/).waitFor();
    await card.getByText("ejected").waitFor();
  });

  test("the playground ranks who fits, and says why others are left out", async () => {
    await world.researcher("anna");
    await world.researcher("bert");
    const page = await world.view("/agents");
    await page.getByLabel("Capability").fill("research");
    await page.getByLabel("Input, as JSON").fill(`{"topic":"waybills"}`);
    await page.getByRole("button", { name: "Find" }).click();
    const fits = page.getByRole("region", { name: "Agents that fit" });
    await fits.getByRole("link", { name: "bert" }).waitFor();
    await page.getByLabel("Input, as JSON").fill(`{"topic":7}`);
    await page.getByRole("button", { name: "Find" }).click();
    await page.getByRole("heading", { name: "Nobody fits" }).waitFor();
    await waitForCount(page.getByRole("listitem").filter({ hasText: "topic" }), 2);
    await page.getByLabel("Input, as JSON").fill(`{"topic":`);
    await page.getByRole("button", { name: "Find" }).click();
    await page.getByRole("alert").filter({ hasText: "The input is not JSON" }).waitFor();
  });

  test("the ledger is verified in the browser, and its export verifies outside", async () => {
    await world.researcher("anna");
    const editor = await world.agent("editor");
    const work = { to: "anna", capability: "research", input: { topic: "waybills" } };
    await editor.handoff(work).result;
    const page = await world.view("/ledger");
    await page.getByRole("button", { name: "Verify the ledger" }).click();
    await page.getByText(/The ledger is intact: \d+ entries/).waitFor();

    await page.getByLabel("Number").fill("1");
    await page.getByRole("button", { name: "Show" }).click();
    await page.getByText("publishes a manifest").waitFor();
    await page.getByLabel("Number").fill("100000");
    await page.getByRole("button", { name: "Show" }).click();
    await page.getByText("The ledger has no entry 100000").waitFor();

    const saving = page.waitForEvent("download");
    await page.getByRole("button", { name: "Save the ledger" }).click();
    const text = await readFile(await (await saving).path(), "utf8");
    expect(await verifyLedger(readLedger([text]))).toMatchObject({ holds: true });
  });

  test("a ledger with one changed character does not pass", async () => {
    const page = await world.view("/");
    await page.route("**/v1/ledger", async (route) => {
      const response = await route.fetch();
      const body = (await response.text()).replace(/"content":"\w/, `"content":"_`);
      await route.fulfill({ response, body });
    });
    await page.goto(`${world.dev.url}/console#/ledger`);
    await page.getByRole("button", { name: "Verify the ledger" }).click();
    await page
      .getByRole("alert")
      .filter({ hasText: "The ledger is not intact. Entry 1" })
      .waitFor();
  });
});
