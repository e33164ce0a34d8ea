/// <reference types="node" />
import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { describeConsole, expectAccessible, HOSTILE, waitForCount } from "./console-fixture.ts";

/** One pixel. */
const PNG: Uint8Array = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
const SVG = Buffer.from(
  `<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><script>alert(2)</script></svg>`,
);
const LARGE = Buffer.alloc(300_000, "large ");

describeConsole("files in a handoff", (world) => {
  test("an image is shown, anything else is only saved, and each digest is checked here", async () => {
    await world.researcher();
    const editor = await world.agent("editor");
    const handoff = editor.handoff({
      to: "anna",
      capability: "research",
      input: { topic: "files" },
      artifacts: [
        { name: "pixel.png", media_type: "image/png", bytes: PNG },
        { name: "drawing.svg", media_type: "image/svg+xml", bytes: SVG },
        { name: "disguised.png", media_type: "image/png", bytes: SVG },
        { name: `${HOSTILE}.html`, media_type: "text/html", bytes: Buffer.from(HOSTILE) },
        { name: "large.txt", media_type: "text/plain", bytes: LARGE },
      ],
    });
    await handoff.result;
    const page = await world.view(`/handoffs/${handoff.id}`);
    const work = page.getByRole("region", { name: "Work" });
    const item = (name: string) => work.getByRole("listitem").filter({ hasText: name });
    await item("pixel.png").getByRole("img", { name: "Artifact pixel.png" }).waitFor();
    await item("disguised.png").getByText("Its content is not image/png").waitFor();
    await waitForCount(work.getByRole("img"), 1);
    for (const name of ["drawing.svg", "disguised.png", "⟨U+202E⟩"]) {
      const link = item(name).getByRole("link", { name: /^Save/ });
      const saving = page.waitForEvent("download");
      await link.click();
      expect((await saving).suggestedFilename()).toMatch(/^[\w.-]+$/);
      // Opened as a page of its own, it is saved as well: its type runs nothing.
      await link.evaluate((each) => {
        each.removeAttribute("download");
        each.setAttribute("target", "_blank");
      });
      const savingAgain = new Promise((resolve) => page.context().once("download", resolve));
      await link.click();
      await savingAgain;
    }

    const large = item("large.txt");
    await large.getByText("300,000 bytes, kept by the hub").waitFor();
    await large.getByRole("button", { name: /Load and check/ }).click();
    await large.getByText("its digest holds").waitFor();
    const saving = page.waitForEvent("download");
    await large.getByRole("link", { name: /^Save/ }).click();
    expect((await readFile(await (await saving).path())).equals(LARGE)).toBe(true);
  });

  test("a blob with other bytes than were signed is shown up, and a reader may look at it", async () => {
    await world.researcher();
    const editor = await world.agent("editor");
    const handoff = editor.handoff({
      to: "anna",
      capability: "research",
      input: { topic: "files" },
      artifacts: [{ name: "large.txt", media_type: "text/plain", bytes: LARGE }],
    });
    await handoff.result;
    const page = await world.view(`/handoffs/${handoff.id}`, await world.link("reader"));
    const item = page.getByRole("region", { name: "Work" }).getByRole("listitem");
    await page.route("**/v1/blobs/*", async (route) => {
      const response = await route.fetch();
      const body = await response.body();
      body[7] = body[7]! ^ 1;
      await route.fulfill({ response, body });
    });
    await item.getByRole("button", { name: /Load and check/ }).click();
    await item.getByText("these are not the bytes that were signed").waitFor();
    expect(await item.getByRole("link", { name: /^Save/ }).count()).toBe(0);
  });

  test("who has broken a contract, and by how much, is said beside it", async () => {
    const anna = await world.agent("anna");
    anna.serve({ name: "count", output_schema: { type: "number" } }, ({ addUsage }) => {
      addUsage({ model: "m", input_tokens: 900, output_tokens: 200 });
      return 7;
    });
    await anna.start();
    const editor = await world.agent("editor");
    const handoff = editor.handoff({
      to: "anna",
      capability: "count",
      input: {},
      contract: { max_tokens: 1_000 },
    });
    await handoff.result.catch(() => undefined);
    const page = await world.view(`/handoffs/${handoff.id}`);
    const contract = page.getByRole("region", { name: "Contract", exact: true });
    await contract.getByText("it used 1100 tokens, and 1000 were agreed").waitFor();
  });

  test("the view of an agent says which contracts it has kept and broken", async () => {
    const anna = await world.agent("anna");
    anna.serve<number>({ name: "count", output_schema: { type: "number" } }, (work) => {
      work.addUsage({ model: "m", input_tokens: work.input, output_tokens: 0 });
      return work.input;
    });
    await anna.start();
    const editor = await world.agent("editor");
    const count = (input: number) =>
      editor.handoff({ to: "anna", capability: "count", input, contract: { max_tokens: 1_000 } });
    const [over, ...others] = [count(1_100), count(10), count(20)] as const;
    await Promise.allSettled([over, ...others].map(({ result }) => result));
    const page = await world.view("/agents/anna");
    const contracts = page.getByRole("region", { name: "Contracts", exact: true });
    await contracts.getByRole("button", { name: "Check the contracts of 3 ended" }).click();
    await contracts.getByText("2 kept and 1 broken, in 3 ended handoffs.").waitFor();
    await contracts.getByText("it used 1100 tokens, and 1000 were agreed").waitFor();
    await expectAccessible(page, "contracts of an agent");
    await contracts.getByRole("link", { name: over.id.slice(-8) }).click();
    await page.getByRole("heading", { name: over.id }).waitFor();
  });
});
