/// <reference types="node" />
import { test } from "vitest";
import { describeConsole, waitForCount } from "./console-fixture.ts";

/** A handoff may have 256 parts at most. */
const CHAPTERS = 4;
const PAGES = 249;
const PARTS = CHAPTERS * (1 + PAGES);

describeConsole("a job of a thousand handoffs", (world) => {
  test("its parts are folded, found and unfolded, and only what is in sight is drawn", async () => {
    const anna = await world.agent("anna");
    anna.serve<number>("count", ({ input }) => input + 1);
    await anna.start();
    const writer = await world.agent("writer");
    let last = "";
    writer.serve("chapter", async ({ handoff }) => {
      const pages = Array.from({ length: PAGES }, (_, input) =>
        handoff({ to: "anna", capability: "count", input }),
      );
      await Promise.all(pages.map(({ result }) => result));
      last = pages.at(-1)!.id;
      return { pages: pages.length };
    });
    await writer.start();
    const lead = await world.agent("lead");
    lead.serve("plan", async ({ handoff }) => {
      for (let chapter = 0; chapter < CHAPTERS; chapter++) {
        await handoff({ to: "writer", capability: "chapter", input: { chapter } }).result;
      }
      return { chapters: CHAPTERS };
    });
    await lead.start();
    const editor = await world.agent("editor");
    const plan = editor.handoff({ to: "lead", capability: "plan", input: {}, timeoutMs: 600_000 });
    await plan.result;

    const page = await world.view(`/jobs/${plan.envelope.correlation_id}`);
    await page.getByText("1,001 handoffs, 0 open").waitFor();
    await page.getByText("1,001 of 1,001, 1,000 folded").waitFor();
    const list = page.getByRole("table", { name: "Handoffs of this job" });
    const links = list.getByRole("link");
    await waitForCount(links, 1);
    await page.getByRole("img", { name: /^Attempts of 1 handoffs/ }).waitFor();

    await list.getByRole("button", { name: `1,000 parts of ${plan.id}` }).click();
    await page.getByText("1,001 of 1,001, 996 folded").waitFor();
    await waitForCount(links, 1 + CHAPTERS);
    await page.getByRole("button", { name: "Unfold all" }).click();
    await page.getByText("1,001 of 1,001", { exact: true }).waitFor();
    await links.nth(10).waitFor();
    await links.nth(60).waitFor({ state: "detached" });
    // The focus stays in the list when its row goes out of sight, and the browser's own keys scroll.
    const scroller = list.getByRole("rowgroup", { name: "Handoffs of this job, rows" });
    await links.nth(10).focus();
    await scroller.evaluate((each) => each.scrollTo(0, each.scrollHeight / 2));
    await scroller.and(page.locator(":focus")).waitFor();
    await page.keyboard.press("End");
    await list
      .getByRole("row")
      .and(page.locator(`[aria-rowindex="${PARTS + 2}"]`))
      .waitFor();
    await page.getByRole("button", { name: /handoffs are folded$/ }).waitFor();

    await page.getByLabel("Contains").fill(last.slice(-12));
    await page.getByText("1 of 1,001", { exact: true }).waitFor();
    await list.getByRole("link", { name: last.slice(-8) }).waitFor();
    await page.getByRole("button", { name: "Zoom in" }).click();
    await page.getByLabel("Contains").fill("");
    await page.getByRole("button", { name: "Fold all" }).click();
    await page.getByText("1,001 of 1,001, 1,000 folded").waitFor();
  });
});
