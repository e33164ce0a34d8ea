/// <reference types="node" />
import { expect, test } from "vitest";
import { describeConsole } from "./console-fixture.ts";

const COUNT = 2_000;

describeConsole("a replay of thousands", (world) => {
  test("every dead letter is replayed once, and every result is acknowledged", async () => {
    await world.deadLetters(COUNT);
    const inputs = await world.reviewer();
    const page = await world.view("/dead-letters");
    await page.getByRole("button", { name: "Enrol a key" }).click();
    await page.getByText(/^You sign as /).waitFor();
    await page.getByText("2,000 of 2,000", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Choose all shown" }).click();
    await page.getByRole("button", { name: "Replay 2,000 chosen" }).click();
    await page.getByLabel("Time, in seconds").fill("240");
    await page.getByRole("button", { name: "Replay", exact: true }).click();
    await page.getByText(/\d+ of 2,000 replayed, [1-9]\d* a second/).waitFor();
    await page.getByText(/^2,000 of 2,000 replayed in \d/).waitFor();
    await page.getByText("2,000 completed", { exact: false }).waitFor();
    await page.getByText("There are none.").waitFor();
    const pages = new Set(inputs.map((each) => (each as { readonly page: number }).page));
    expect([inputs.length, pages.size]).toEqual([COUNT, COUNT]);
  });
});
