/// <reference types="node" />
/// <reference lib="dom" />
import { newId } from "@waybill/protocol";
import type { Locator, Page } from "playwright-core";
import { expect, test } from "vitest";
import { describeConsole } from "./console-fixture.ts";

const STOPS_AT_MOST = 150;

/** Moves the focus with the Tab key alone. */
async function tabTo(page: Page, wanted: Locator): Promise<void> {
  await wanted.waitFor();
  for (let stops = 0; stops < STOPS_AT_MOST; stops++) {
    if (await isFocused(wanted)) return expectVisibleFocus(page);
    await page.keyboard.press("Tab");
  }
  throw new Error("The Tab key does not lead there.");
}

function isFocused(wanted: Locator): Promise<boolean> {
  return wanted.evaluate((element) => element === document.activeElement);
}

/** Waits until the page has moved the focus there. */
async function focused(page: Page, wanted: Locator): Promise<void> {
  await wanted.and(page.locator(":focus")).waitFor();
}

/** Whoever uses the keyboard sees where they are, and nothing lies over it. */
async function expectVisibleFocus(page: Page): Promise<void> {
  const seen = await page.evaluate(() => {
    const element = document.activeElement!;
    const { width, height } = element.getBoundingClientRect();
    const { outlineStyle, outlineWidth } = getComputedStyle(element);
    return { isShown: width > 0 && height > 0, outline: `${outlineStyle} ${outlineWidth}` };
  });
  expect(seen.isShown).toBe(true);
  expect(seen.outline).not.toMatch(/^none|0px$/);
}

async function press(page: Page, wanted: Locator, key = "Enter"): Promise<void> {
  await tabTo(page, wanted);
  await page.keyboard.press(key);
}

/** Follows a link of the navigation; the focus is in the new view then. */
async function goTo(page: Page, name: string): Promise<void> {
  const nav = page.getByRole("navigation", { name: "Views" });
  await press(page, nav.getByRole("link", { name }));
  await page.getByRole("heading", { level: 1, name }).waitFor();
  await page.waitForFunction(() => document.activeElement?.id === "main");
}

describeConsole("the console by keyboard alone", (world) => {
  test("every view is reached and read with Tab and Enter", async () => {
    await world.researcher();
    const editor = await world.agent("editor");
    const correlationId = newId();
    const work = { to: "anna", capability: "research", input: { topic: "waybills" } };
    const handoff = editor.handoff({ ...work, correlationId });
    await handoff.result;
    const page = await world.open();
    await page.getByRole("heading", { name: "Now" }).waitFor();
    await press(page, page.getByRole("link", { name: "Skip to the content" }));
    await page.waitForFunction(() => document.activeElement?.id === "main");

    await goTo(page, "Handoffs");
    await press(page, page.getByRole("link", { name: handoff.id.slice(-8) }));
    await page.getByText(/All \d+ signatures hold/).waitFor();
    await press(page, page.getByRole("region", { name: "Record" }).locator("summary").first());
    await page.getByRole("region", { name: /as it is on record$/ }).waitFor();
    await press(page, page.getByRole("link", { name: correlationId }));
    await page.getByRole("heading", { name: /^Job/ }).waitFor();
    await press(page, page.getByRole("button", { name: "Zoom in" }));
    await page.getByRole("button", { name: "Zoom out" }).waitFor();

    await goTo(page, "Agents");
    await tabTo(page, page.getByLabel("Capability"));
    await page.keyboard.type("research");
    await page.keyboard.press("Enter");
    await page.getByRole("region", { name: "Agents that fit" }).waitFor();
    await press(page, page.getByRole("link", { name: "anna" }).first());
    await page.getByText("1 manifest holds: checked here").waitFor();

    await goTo(page, "Ledger");
    await press(page, page.getByRole("button", { name: "Verify the ledger" }));
    await page.getByText(/The ledger is intact/).waitFor();
    await press(page, page.getByRole("button", { name: /^Theme/ }));
    await goTo(page, "Now");
  });

  test("an operator enrols, discards, replays and hands off", async () => {
    const [first, second] = await world.deadLetters(2);
    const inputs = await world.reviewer();
    const page = await world.open();
    await page.getByRole("heading", { name: "Now" }).waitFor();
    await goTo(page, "Dead letters");
    await press(page, page.getByRole("button", { name: "Enrol a key" }));
    await page.getByText(/^You sign as/).waitFor();

    await press(page, page.getByRole("checkbox", { name: first! }), "Space");
    const discard = page.getByRole("button", { name: "Discard 1 chosen" });
    await press(page, discard);
    const dialog = page.getByRole("dialog");
    await focused(page, dialog.getByLabel("Reason"));
    // It closes without having done anything, and the focus is where it was.
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "hidden" });
    await focused(page, discard);
    await page.keyboard.press("Enter");
    await focused(page, dialog.getByLabel("Reason"));
    await page.keyboard.type("sent twice");
    await press(page, dialog.getByRole("button", { name: "Discard", exact: true }));
    await page.getByText("1 of 1 discarded in").waitFor();

    await press(page, page.getByRole("checkbox", { name: second! }), "Space");
    await press(page, page.getByRole("button", { name: "Replay 1 chosen" }));
    await focused(page, dialog.getByLabel("Time, in seconds"));
    await page.keyboard.type("60");
    await page.keyboard.press("Enter");
    await page.getByText("1 of 1 replayed in").waitFor();
    await page.getByText("There are none.").waitFor();

    await goTo(page, "Agents");
    await press(page, page.getByRole("link", { name: "dora" }).first());
    await press(page, page.getByRole("button", { name: "Hand off review" }));
    await focused(page, page.getByRole("group", { name: "Hand off review" }));
    await press(page, page.getByRole("button", { name: "Hand off", exact: true }));
    await page.getByText("this is required.").waitFor();
    const field = page.getByLabel("page");
    await focused(page, field);
    await page.keyboard.type("7");
    await page.keyboard.press("Enter");
    await page.getByRole("list", { name: "Handed off" }).getByText("completed").waitFor();
    expect(inputs).toEqual([{ page: 1 }, { page: 7 }]);
  });

  test("a person enrols, accepts, answers for a mistake, and delivers", async () => {
    const editor = await world.agent("editor");
    const page = await world.open();
    await page.getByRole("heading", { name: "Now" }).waitFor();
    await goTo(page, "Inbox");
    await tabTo(page, page.getByLabel("Your name at this hub"));
    await page.keyboard.type("maria");
    await page.keyboard.press("Enter");
    await page.getByText("open: agents can reach you").waitFor();
    const work = { to: "maria", capability: "review", input: { page: 3 }, timeoutMs: 600_000 };
    const handoff = editor.handoff(work);
    await press(page, page.getByRole("button", { name: "Accept", exact: true }));
    await handoff.accepted;
    await press(page, page.getByRole("button", { name: "Deliver" }));
    // The focus is at what has to be corrected.
    await page.getByText("Choose yes or no: this is required.").waitFor();
    await focused(page, page.getByRole("radio", { name: "yes" }));
    await page.keyboard.press("Space");
    await tabTo(page, page.getByLabel("Comment"));
    await page.keyboard.type("fine");
    await press(page, page.getByRole("button", { name: "Deliver" }));
    expect((await handoff.result).output).toEqual({ approved: true, comment: "fine" });
  });
});
