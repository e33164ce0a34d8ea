/// <reference types="node" />
import { once } from "node:events";
import type { Locator, Page } from "playwright-core";
import { expect, test } from "vitest";
import { describeConsole, expectAccessible, expectHarmless, HOSTILE } from "./console-fixture.ts";
import type { ConsoleWorld } from "./console-fixture.ts";

/** The id of the operators' agent of a page that shows its panel. */
async function enrol(page: Page): Promise<string> {
  await page.getByRole("button", { name: "Enrol a key" }).click();
  const said = page.getByText(/^You sign as /);
  await said.waitFor();
  return (await said.locator("strong").textContent())!;
}

/** Replays all dead letters that a page shows. */
async function replayAll(page: Page, count: number): Promise<void> {
  await page.getByText(`${count} of ${count}`, { exact: true }).waitFor();
  await page.getByRole("button", { name: "Choose all shown" }).click();
  await page.getByRole("button", { name: `Replay ${count} chosen` }).click();
  await page.getByLabel("Time, in seconds").fill("60");
  await page.getByRole("button", { name: "Replay", exact: true }).click();
}

function replayedAs(page: Page): Locator {
  return page.locator("dt", { hasText: "Replayed as" }).locator("+ dd").getByRole("link");
}

/** The pages that were reviewed, in order. */
function pagesIn(inputs: readonly unknown[]): readonly number[] {
  return inputs.map((each) => (each as { page: number }).page).toSorted((a, b) => a - b);
}

async function deadLettersOf({ place }: ConsoleWorld): Promise<readonly unknown[]> {
  const listed = await place.json(["dead-letters", "list", "--limit", "500"]);
  return (listed as { dead_letters: unknown[] }).dead_letters;
}

describeConsole("what operators do in the console", (world) => {
  test("a discard is on record with its reason, signed by the key of the browser", async () => {
    const [id] = await world.deadLetters(1);
    const page = await world.view("/dead-letters");
    const operator = await enrol(page);
    expect(operator).toMatch(/^operator-[0-9a-f]{10}$/);
    await page.getByRole("checkbox", { name: id! }).check();
    await page.getByRole("button", { name: "Discard 1 chosen" }).click();
    await page.getByLabel("Reason").fill(`sent twice ${HOSTILE}`);
    await page.keyboard.press("Enter");
    await page.getByText("1 of 1 discarded").waitFor();
    await page.getByText("There are none.").waitFor();

    await page.goto(`${world.dev.url}/console#/handoffs/${id}`);
    await page.getByText(/All \d+ signatures hold/).waitFor();
    const line = page.getByRole("listitem").filter({ hasText: "removes it from the dead letters" });
    await line.getByText("sent twice").waitFor();
    await line.getByText(operator).waitFor();
    await line.getByText("checked here").first().waitFor();
    await expectHarmless(page);

    const { stdout } = await world.place.run(["trace", id!]);
    expect(stdout).toContain("removes it from the dead letters: sent twice");
    expect(stdout).toContain(operator);
    expect(await world.place.json(["trace", id!])).toMatchObject({ signatures: { failed: 0 } });
  });

  test("a hub that changes the reason of a discard is shown up", async () => {
    const [id] = await world.deadLetters(1);
    const page = await world.view("/dead-letters");
    await enrol(page);
    await page.getByRole("checkbox", { name: id! }).check();
    await page.getByRole("button", { name: "Discard 1 chosen" }).click();
    await page.getByLabel("Reason").fill("sent twice");
    await page.getByRole("button", { name: "Discard", exact: true }).click();
    await page.getByText("1 of 1 discarded").waitFor();
    await page.route("**/history?*", async (route) => {
      const response = await route.fetch();
      const body = (await response.text()).replace("sent twice", "not needed");
      await route.fulfill({ response, body });
    });
    await page.goto(`${world.dev.url}/console#/handoffs/${id}`);
    const alert = page.getByRole("alert").filter({ hasText: "Do not rely on this page" });
    await alert.getByText("for another reason than the record names").waitFor();
  });

  test("a key keeps its right through a restart of the hub, until somebody revokes it", async () => {
    await world.deadLetters(2);
    const page = await world.view("/dead-letters");
    const operator = await enrol(page);
    const { port } = new URL(world.dev.url);
    await world.dev.stop("SIGKILL");
    await page.getByRole("alert").filter({ hasText: "does not answer" }).waitFor();
    await world.startHub(["--port", port]);
    await page.getByText("Live", { exact: true }).waitFor();
    const discardOne = async () => {
      await page.getByRole("checkbox").first().check();
      await page.getByRole("button", { name: "Discard 1 chosen" }).click();
      await page.getByLabel("Reason").fill("sent twice");
      await page.getByRole("button", { name: "Discard", exact: true }).click();
    };
    await discardOne();
    await page.getByText("1 of 1 discarded").waitFor();
    await page.getByText("1 of 1", { exact: true }).waitFor();

    await world.place.json(["groups", "remove", "operators", operator]);
    await discardOne();
    await page.getByText("0 of 1 discarded, 1 failed").waitFor();
    await page.getByText("Only operators and their agents may discard a dead letter").waitFor();
    expect(await deadLettersOf(world)).toHaveLength(1);
    await page.reload();
    await page.getByRole("button", { name: "Enrol a key" }).waitFor();
  });

  test("a key is deleted here even if the hub does not hear of it", async () => {
    await world.deadLetters(1);
    const page = await world.view("/dead-letters");
    const operator = await enrol(page);
    await page.route("**/v1/groups/operators**", (route) => route.abort());
    await page.getByRole("button", { name: "Revoke it" }).click();
    await page.getByText(`waybill groups remove operators ${operator}`).waitFor();
    await page.unroute("**/v1/groups/operators**");
    await page.reload();
    await page.getByRole("button", { name: "Enrol a key" }).waitFor();
    expect(await enrol(page)).not.toBe(operator);
  });

  test("a dead letter is corrected in the editor, tried dry, and replayed as a handoff of its own", async () => {
    const [id] = await world.deadLetters(1, () => ({ page: "seven", note: HOSTILE }));
    const inputs = await world.reviewer();
    const page = await world.view("/dead-letters");
    await page.getByRole("link", { name: `Replay ${id}` }).click();
    await page.getByRole("heading", { name: `Dead letter ${id}` }).waitFor();
    await page.getByText(/All \d+ signatures hold/).waitFor();
    await enrol(page);
    const editor = page.getByRole("textbox", { name: "Input of the replay" });
    const wrong = page.getByText("At /page: expected integer");
    await wrong.waitFor();
    await editor.filter({ hasText: "\\u202e" }).waitFor();
    await page.getByRole("button", { name: "Replay", exact: true, disabled: true }).waitFor();
    await page.getByRole("button", { name: "Dry run" }).click();
    await page.getByText("Nobody fits now").waitFor();
    await page.getByRole("heading", { name: "Left out" }).waitFor();

    await editor.focus();
    await page.keyboard.press("ControlOrMeta+a");
    await page.keyboard.insertText(`{ "page": `);
    await page.getByText("This is not").or(page.getByText("JSON")).first().waitFor();
    await page.keyboard.insertText(`7 }`);
    await page.getByText("It fits the schema, changed").waitFor();
    await page.getByRole("button", { name: "Dry run" }).click();
    await page.getByText("The hub would rank dora first").waitFor();
    expect(inputs).toEqual([]);
    await expectAccessible(page, "replay");

    // From the editor by keyboard alone.
    await editor.focus();
    await page.keyboard.press("Tab");
    await page.keyboard.type("60");
    await page.keyboard.press("Enter");
    const link = replayedAs(page);
    await link.click();
    await page.getByText("completed · 200 COMPLETED").waitFor();
    await page.getByText("acknowledges the result").waitFor();
    await page.getByRole("link", { name: id! }).waitFor();
    expect(inputs).toEqual([{ page: 7 }]);
    expect(await deadLettersOf(world)).toEqual([]);
  });

  test("the attempts of a dead letter and of the one that it replays are compared", async () => {
    const dora = await world.agent("dora");
    dora.serve({ name: "review" }, async ({ progress, signal }) => {
      await progress({ message: "reading page 1" });
      await once(signal, "abort");
      return {};
    });
    await dora.start();
    const editor = await world.agent("editor");
    const work = { to: "dora", capability: "review", input: { page: 1 } };
    const first = editor.handoff({ ...work, timeoutMs: 1_500 });
    await first.result.catch(() => undefined);
    const page = await world.view(`/dead-letters/${first.id}`);
    await page.getByRole("cell", { name: "reports progress: reading page 1" }).waitFor();
    await enrol(page);
    await page.getByLabel("Time, in seconds").fill("1");
    await page.getByRole("button", { name: "Replay", exact: true }).click();
    const link = replayedAs(page);
    const again = (await link.textContent())!;
    await link.click();
    await page.getByText("dead lettered").waitFor();
    await page.getByRole("link", { name: "Look into this dead letter" }).click();
    await page.getByRole("heading", { name: `Dead letter ${again}` }).waitFor();
    const attempts = page.getByRole("region", { name: "Attempts" });
    await attempts.getByRole("cell", { name: "this one" }).waitFor();
    await attempts.getByRole("link", { name: first.id.slice(-8) }).waitFor();
  });

  test("a replay carries the files of its dead letter", async () => {
    const bytes = Buffer.alloc(300_000, "large ");
    const dora = await world.agent("dora");
    let isFirst = true;
    dora.serve("review", async ({ artifacts, signal }) => {
      if (isFirst) {
        isFirst = false;
        await once(signal, "abort");
        return {};
      }
      const read = Buffer.from(await artifacts[0]!.bytes());
      return { isWhole: read.equals(bytes) };
    });
    await dora.start();
    const editor = await world.agent("editor");
    const first = editor.handoff({
      to: "dora",
      capability: "review",
      artifacts: [{ name: "large.txt", media_type: "text/plain", bytes }],
      timeoutMs: 5_000,
    });
    await first.accepted;
    await first.result.catch(() => undefined);
    const page = await world.view(`/dead-letters/${first.id}`);
    await enrol(page);
    await page.getByLabel("Time, in seconds").fill("60");
    await page.getByRole("button", { name: "Replay", exact: true }).click();
    await replayedAs(page).click();
    await page.getByText("completed · 200 COMPLETED").waitFor();
    await page.getByLabel("Output").filter({ hasText: `"isWhole": true` }).waitFor();
    await page.getByText("acknowledges the result").waitFor();
  });

  test("the page and the command replay a dead letter once between them", async () => {
    const [first, second] = await world.deadLetters(2);
    const inputs = await world.reviewer();
    const page = await world.view("/dead-letters");
    const operator = await enrol(page);
    // The command is faster than the page with one of them.
    const replayed = Promise.withResolvers<void>();
    await page.route(`**/${second}/replay`, async (route) => {
      await replayed.promise;
      await route.continue();
    });
    await replayAll(page, 2);
    const words = (id: string) => ["dead-letters", "replay", id, "--timeout", "60s"];
    expect(await world.place.run(words(second!))).toMatchObject({ code: 0 });
    replayed.resolve();
    await page.getByText("1 of 2 replayed, 1 were before").waitFor();
    const refused = await world.place.run(words(first!));
    expect(refused.code).not.toBe(0);
    expect(refused.stderr.replaceAll(/\s+/g, " ")).toContain(`${operator} has replayed ${first}`);
    expect(pagesIn(inputs)).toEqual([0, 1]);
  });

  test("many are replayed once each, over a reload and by two operators at once", async () => {
    const COUNT = 48;
    await world.deadLetters(COUNT);
    const inputs = await world.reviewer();
    const first = await world.view("/dead-letters");
    const second = await world.view("/dead-letters", await world.link("operator"));
    await Promise.all([enrol(first), enrol(second)]);
    await Promise.all([replayAll(first, COUNT), replayAll(second, COUNT)]);
    await first.getByText(/^\d+ of 48 replayed/).waitFor();
    await first.reload();
    await second.getByText(/^\d+ of 48 replayed.* in \d/).waitFor();
    await first.getByText("There are none.").waitFor();
    const all = Array.from({ length: COUNT }, (_, page) => page);
    await expect.poll(() => inputs.length, { timeout: 60_000 }).toBe(COUNT);
    expect(pagesIn(inputs)).toEqual(all);
    expect(await deadLettersOf(world)).toEqual([]);
  });

  test("a replay of many can be stopped, and says which failed and why", async () => {
    await world.deadLetters(20, (page) => ({ page: page % 4 === 0 ? "none" : page }));
    const inputs = await world.reviewer();
    const page = await world.view("/dead-letters");
    await enrol(page);
    // The hub's answers wait until the button was pressed.
    const stopped = Promise.withResolvers<void>();
    await page.route("**/replay", async (route) => {
      await stopped.promise;
      await route.continue();
    });
    await replayAll(page, 20);
    await page.getByRole("button", { name: "Stop" }).click();
    stopped.resolve();
    await page.getByText(/, stopped in/).waitFor();
    expect((await deadLettersOf(world)).length).toBeGreaterThan(10);
    await page.unroute("**/replay");
    await page.getByRole("button", { name: "Close" }).click();
    await page.getByRole("button", { name: /^Replay \d+ chosen/ }).click();
    await page.getByRole("button", { name: "Replay", exact: true }).click();
    await page.getByText(/\d+ failed in/).waitFor();
    await expect.poll(() => inputs.length, { timeout: 60_000 }).toBe(15);
    expect(await deadLettersOf(world)).toHaveLength(5);
    await page.getByText("Which").first().click();
    await page.getByRole("listitem").getByRole("link").first().click();
    await page.getByRole("heading", { name: "Attempts" }).waitFor();
  });

  test("an agent that keeps failing is shown as ejected, with the reason and the end of it", async () => {
    await world.researcher();
    const editor = await world.agent("editor");
    for (let count = 0; count < 6; count++) {
      const work = { to: "anna", capability: "research", input: { topic: "closed" } };
      await editor.handoff(work).result.catch(() => undefined);
    }
    const page = await world.view("/agents/anna");
    await page.getByText(/standing: ejected/).waitFor();
    await page.getByText(/failed \d+ times in a row, and comes after all others until/).waitFor();
  });

  test("work is handed off with a form made from the input schema", async () => {
    await world.researcher();
    const page = await world.view("/agents/anna");
    await page.getByRole("button", { name: "Hand off research" }).click();
    const operator = await enrol(page);
    const topic = page.getByRole("textbox", { name: "topic" });
    const submit = page.getByRole("button", { name: "Hand off", exact: true });
    await submit.focus();
    await page.keyboard.press("Enter");
    await page.getByText("Enter a text: this is required.").waitFor();
    await topic.and(page.locator('[aria-invalid="true"]')).waitFor();
    await expectAccessible(page, "form");
    await topic.focus();
    await page.keyboard.type("waybills");
    await submit.press("Enter");
    const sent = page.getByRole("list", { name: "Handed off" });
    await sent.getByText("completed").waitFor();
    await page.getByText("1 completed").waitFor();
    await sent.getByRole("link").click();
    await page.getByText("acknowledges the result").waitFor();
    await page.getByText(/All \d+ signatures hold/).waitFor();
    await page.getByRole("definition").getByText(operator).waitFor();
  });

  test("a hub that confirms something else than what was handed off is shown up", async () => {
    await world.researcher();
    const page = await world.view("/agents/anna");
    await page.getByRole("button", { name: "Hand off research" }).click();
    await enrol(page);
    let earlier: string | undefined;
    await page.route("**/v1/envelopes", async (route) => {
      const response = await route.fetch();
      const body = await response.text();
      await route.fulfill({ response, body: (earlier ??= body) });
    });
    const handOff = async (topic: string) => {
      await page.getByRole("textbox", { name: "topic" }).fill(topic);
      await page.getByRole("button", { name: "Hand off", exact: true }).click();
    };
    await handOff("first");
    await page.getByRole("list", { name: "Handed off" }).getByRole("link").waitFor();
    await handOff("second");
    await page.getByRole("alert").getByText("signed for something else than").waitFor();
  });

  test("a reader has no form to hand off with", async () => {
    await world.researcher();
    const page = await world.view("/agents/anna", await world.link("reader"));
    await page.getByRole("heading", { name: "research" }).waitFor();
    expect(await page.getByRole("button", { name: /Hand off/ }).count()).toBe(0);
  });

  test("axe finds nothing while an operator acts", async () => {
    await world.deadLetters(2);
    const page = await world.view("/dead-letters");
    await expectAccessible(page, "without a key");
    await enrol(page);
    await page.getByRole("button", { name: "Choose all shown" }).click();
    await page.getByRole("button", { name: "Discard 2 chosen" }).click();
    await expectAccessible(page, "reason");
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("button", { name: "Replay 2 chosen" }).click();
    await expectAccessible(page, "replay of many");
  });
});
