/// <reference types="node" />
/// <reference lib="dom" />
import type { Agent, HandoffHandle } from "@waybill/agent";
import type { Json } from "@waybill/protocol";
import type { BrowserContext, Locator, Page } from "playwright-core";
import { expect, test } from "vitest";
import { describeConsole, expectAccessible, expectHarmless, HOSTILE } from "./console-fixture.ts";
import type { ConsoleWorld } from "./console-fixture.ts";

const LONG_MS = 600_000;

/** Enrols whoever is at this page; the hub waits for them for so many minutes. */
async function enrol(page: Page, name: string, leaseMinutes = "5"): Promise<void> {
  await page.getByLabel("Your name at this hub").fill(name);
  await page.getByLabel("Minutes that the hub waits").fill(leaseMinutes);
  await page.getByRole("button", { name: "Make a key and enrol" }).click();
  await page.getByText("open: agents can reach you").waitFor();
}

async function inboxOf(world: ConsoleWorld, name: string, leaseMinutes?: string): Promise<Page> {
  const page = await world.view("/inbox");
  await enrol(page, name, leaseMinutes);
  return page;
}

/** The editor hands work to the person. */
function handToMaria(editor: Agent, body: object = { input: { page: 3 } }): HandoffHandle {
  const work = { to: "maria", capability: "review", timeoutMs: LONG_MS, ...body };
  return editor.handoff<Json>(work as never);
}

function region(page: Page, name: string): Locator {
  return page.getByRole("region", { name, exact: true });
}

/** Another tab of the same browser profile, which has the same key. */
async function anotherTab(world: ConsoleWorld, context: BrowserContext): Promise<Page> {
  const page = await context.newPage();
  await page.goto(`${world.dev.url}/console#/inbox`);
  return page;
}

async function deliver(page: Page, comment: string): Promise<void> {
  const work = region(page, "Your work");
  await work.getByRole("radio", { name: "yes" }).check();
  await work.getByLabel("Comment").fill(comment);
  await work.getByRole("button", { name: "Deliver" }).click();
}

describeConsole("a person at the console", (world) => {
  test("a person accepts work, asks back and delivers, and every signature holds", async () => {
    const editor = await world.agent("editor");
    const page = await inboxOf(world, "maria");
    const handoff = handToMaria(editor);
    const waiting = page.getByRole("article", { name: "review from editor" });
    await waiting.getByText("Look at it").click();
    await waiting.getByText(`"page": 3`).waitFor();
    await waiting.getByRole("button", { name: "Accept" }).click();
    await handoff.accepted;

    const work = region(page, "Your work");
    await work.getByText("Ask back").click();
    await work.getByLabel("Question").fill("Which edition?");
    await work.getByLabel("The answer is").selectOption("a text");
    await work.getByRole("button", { name: "Ask", exact: true }).click();
    for await (const question of handoff.questions) {
      expect(question).toMatchObject({ text: "Which edition?", schema: { type: "string" } });
      await handoff.answer(question.id, "the second");
      break;
    }
    await work.getByText("the second").waitFor();

    await work.getByRole("button", { name: "Deliver" }).click();
    await work.getByText("Choose yes or no: this is required.").waitFor();
    await deliver(page, "well done");
    const { output, by } = await handoff.result;
    expect({ output, by }).toEqual({
      output: { approved: true, comment: "well done" },
      by: "maria",
    });
    await work.getByText("You have not accepted any work").waitFor();
    await page.goto(`${world.dev.url}/console#/handoffs/${handoff.id}`);
    await page.getByText(/All \d+ signatures hold/).waitFor();
    await region(page, "Contract").getByText("kept, as far as the record shows").waitFor();
  });

  test("an enrolment whose answer is lost is repeated with the same key", async () => {
    const page = await world.view("/inbox");
    await page.route(
      "**/v1/agents/maria",
      async (route) => {
        await route.fetch();
        await route.abort();
      },
      { times: 1 },
    );
    await page.getByLabel("Your name at this hub").fill("maria");
    await page.getByRole("button", { name: "Make a key and enrol" }).click();
    await page.getByText("The hub does not answer").waitFor();
    await page.getByRole("button", { name: "Make a key and enrol" }).click();
    await page.getByText("open: agents can reach you").waitFor();
  });

  test("work is declined with a reason, given back, or taken as it comes", async () => {
    const editor = await world.agent("editor");
    const page = await inboxOf(world, "maria");
    const first = handToMaria(editor);
    const waiting = page.getByRole("article", { name: "review from editor" });
    await waiting.locator("summary", { hasText: "Decline it" }).click();
    await waiting.getByRole("button", { name: "Decline" }).click();
    await waiting.getByText("Enter a text: this is required.").waitFor();
    await waiting.getByLabel("Why").fill("I wrote it myself");
    await waiting.getByRole("button", { name: "Decline" }).click();
    await expect(first.result).rejects.toMatchObject({
      status: 403,
      message: expect.stringContaining("I wrote it myself"),
    });

    const second = handToMaria(editor);
    const next = page.getByRole("button", { name: "Accept what comes next" });
    await waiting.waitFor();
    await next.click();
    await second.accepted;
    const work = region(page, "Your work");
    await work.locator("summary", { hasText: "Give it back" }).click();
    await work.getByRole("group", { name: "Give it back" }).getByLabel("Why").fill("not today");
    await work.getByRole("button", { name: "Give back" }).click();
    await waiting.waitFor();
    await work.getByText("You have not accepted any work").waitFor();

    await waiting.getByRole("button", { name: "Accept" }).click();
    await work.locator("summary", { hasText: "Decline it for good" }).click();
    const reasons = work.getByRole("group", { name: "Decline it" });
    await reasons.getByLabel("Why").fill("it makes no sense");
    await work.getByRole("button", { name: "Decline", exact: true }).click();
    await expect(second.result).rejects.toMatchObject({
      status: 500,
      message: "it makes no sense",
    });
    await next.click();
    await page.getByRole("alert").filter({ hasText: "Nothing waits for you now" }).waitFor();
  });

  test("of several pieces of work the person accepts the one that they choose", async () => {
    const page = await inboxOf(world, "maria");
    const handoffs: HandoffHandle[] = [];
    const editor = await world.agent("editor");
    for (const topic of ["first", "second", "third"]) {
      const work = { to: "maria", capability: "review", input: { topic }, timeoutMs: LONG_MS };
      const handoff = editor.handoff<Json>(work);
      await handoff.custody;
      handoffs.push(handoff);
    }
    const chosen = handoffs[2]!;
    const item = region(page, "Waiting for you")
      .getByRole("article")
      .filter({ has: page.getByRole("link", { name: chosen.id.slice(-8) }) });
    await item.getByRole("button", { name: "Accept" }).click();
    await region(page, "Your work").getByText("third").waitFor();
    await chosen.accepted;
    await deliver(page, "chosen");
    expect((await chosen.result).output).toMatchObject({ comment: "chosen" });
    await region(page, "Waiting for you").getByRole("article").nth(1).waitFor();
  });

  test("accepted work outlives a page that is closed, and a hub that is killed", async () => {
    const editor = await world.agent("editor");
    const page = await inboxOf(world, "maria");
    const context = page.context();
    const handoff = handToMaria(editor);
    await page
      .getByRole("article", { name: "review from editor" })
      .getByRole("button", { name: "Accept" })
      .click();
    await handoff.accepted;
    await page.close();
    const again = await anotherTab(world, context);
    const work = region(again, "Your work");
    await work.getByText(`"page": 3`).waitFor();

    const { port } = new URL(world.dev.url);
    await world.dev.stop("SIGKILL");
    await again.getByText("closed: the hub does not answer").waitFor();
    await world.startHub(["--port", port]);
    await again.getByText("open: agents can reach you").waitFor();
    await deliver(again, "after all");
    expect((await handoff.result).output).toMatchObject({ comment: "after all" });
  });

  test("work of a page that stays closed is offered again after its lease", async () => {
    const editor = await world.agent("editor");
    const page = await inboxOf(world, "maria", "0.25");
    const context = page.context();
    const handoff = handToMaria(editor);
    await page
      .getByRole("article", { name: "review from editor" })
      .getByRole("button", { name: "Accept" })
      .click();
    await handoff.accepted;
    const onlooker = await world.view(`/handoffs/${handoff.id}`, await world.link("reader"));
    await onlooker.getByText(/All \d+ signatures hold/).waitFor();
    // As long as the page is open it keeps the lease: nothing has happened when 20 s are over.
    const later = { to: "maria", capability: "review", input: {}, timeoutMs: 20_000 };
    await expect(editor.handoff(later).result).rejects.toMatchObject({ status: 504 });
    expect(await onlooker.getByText("the recipient went silent").count()).toBe(0);
    await page.close();
    await onlooker.getByText("the recipient went silent").waitFor();

    const again = await anotherTab(world, context);
    await again
      .getByRole("article", { name: "review from editor" })
      .getByRole("button", { name: "Accept" })
      .click();
    await deliver(again, "second attempt");
    expect((await handoff.result).output).toMatchObject({ comment: "second attempt" });
    await onlooker.getByRole("row", { name: /2 maria/ }).waitFor();
    await onlooker.getByText("it was silent for more than 15 s").waitFor();
  });

  test("a question to the person has the form of its schema, and is answered with their key", async () => {
    const anna = await world.agent("anna");
    anna.serve("research", async ({ ask }) => {
      const answer = await ask({
        id: "budget",
        text: "How much may it cost?",
        schema: {
          type: "object",
          required: ["most", "currency"],
          properties: { most: { type: "number", minimum: 1 }, currency: { enum: ["EUR", "USD"] } },
        },
      });
      return { answer };
    });
    await anna.start();
    const page = await inboxOf(world, "maria");
    const id = await handOffFromPage(page, "maria", { to: "anna", capability: "research" });
    const questions = region(page, "Questions for you");
    await questions.getByText("How much may it cost?").waitFor();
    await questions.getByLabel("most").fill("0.5");
    await questions.getByLabel("currency").selectOption("USD");
    await questions.getByRole("button", { name: "Answer" }).click();
    await questions.getByText("Expected a number of at least 1, got 0.5.").waitFor();
    await questions.locator("[aria-invalid=true]:focus").waitFor();
    await questions.getByLabel("most").fill("12.5");
    await questions.getByRole("button", { name: "Answer" }).click();
    const results = region(page, "Results of what you handed off");
    await results.getByText("12.5").waitFor();
    await questions.waitFor({ state: "detached" });
    await results.getByRole("button", { name: "I have read it" }).click();
    await results.waitFor({ state: "detached" });
    await page.goto(`${world.dev.url}/console#/handoffs/${id}`);
    await page.getByText("acknowledges the result").waitFor();
    await page.getByText(/All \d+ signatures hold/).waitFor();
  });

  test("the key can't be read, and one tab at a time has the inbox", async () => {
    const editor = await world.agent("editor");
    const page = await inboxOf(world, "maria");
    await findKey(page);
    const found = await page.evaluate(async () => {
      const { key } = (globalThis as never as Found).found;
      const read = await crypto.subtle
        .exportKey("pkcs8", key)
        .catch((error: unknown) => (error as Error).name);
      return { extractable: key.extractable, read };
    });
    expect(found).toEqual({ extractable: false, read: "InvalidAccessError" });

    const second = await anotherTab(world, page.context());
    await second.getByText("Your inbox is open in another tab").waitFor();
    await page.close();
    await second.getByText("open: agents can reach you").waitFor();
    const handoff = handToMaria(editor);
    await second.getByRole("button", { name: "Accept", exact: true }).click();
    await handoff.accepted;
  });

  test("a hub that demands invitations admits a person with one, and says why it refuses others", async () => {
    await world.dev.stop("SIGKILL");
    const hub = world.place.start(["hub", "--json", "--port", "0", "--newcomers", "invitation"]);
    const { url } = JSON.parse(await hub.line()) as { url: string };
    world.dev = { ...world.dev, url };
    const page = await world.view("/inbox", await world.link("operator"));
    const button = page.getByRole("button", { name: "Make a key and enrol" });
    await page.getByLabel("Your name at this hub").fill("maria");
    await button.click();
    await page.getByText("Enter a text: this is required.").waitFor();
    await page.getByLabel("Invitation").fill("not an invitation");
    await button.click();
    await page.getByRole("alert").filter({ hasText: "This is not an invitation" }).waitFor();
    const { invitation } = (await world.place.json([
      "invite",
      "--agent",
      "maria",
      "--hub",
      world.dev.url,
    ])) as { invitation: string };
    await page.getByLabel("Invitation").fill(invitation);
    await button.click();
    await page.getByText("open: agents can reach you").waitFor();

    const other = await world.view("/inbox", await world.link("operator"));
    await other.getByLabel("Your name at this hub").fill("maria");
    await other.getByLabel("Invitation").fill(invitation);
    await other.getByRole("button", { name: "Make a key and enrol" }).click();
    await other.getByRole("alert").filter({ hasText: "belongs to another key" }).waitFor();
  });

  test("notifications are asked for by a button, and never when the page loads", async () => {
    const editor = await world.agent("editor");
    const page = await world.view("/inbox");
    await page.context().grantPermissions(["notifications"], { origin: world.dev.url });
    await page.addInitScript(() => {
      const seen: string[] = ((globalThis as never as Seen).seen = []);
      const Real = Notification;
      const request = Real.requestPermission.bind(Real);
      class Watched extends Real {
        constructor(title: string, options?: NotificationOptions) {
          super(title, options);
          seen.push(`shown: ${options?.body}`);
        }
        static override requestPermission() {
          seen.push("asked");
          return request();
        }
      }
      Object.assign(globalThis, { Notification: Watched });
      // The browser of the tests regards every page as focused.
      document.hasFocus = () => false;
    });
    await page.reload();
    await enrol(page, "maria");
    const seen = () => page.evaluate(() => (globalThis as never as Seen).seen);
    handToMaria(editor);
    await page.getByRole("article", { name: "review from editor" }).waitFor();
    expect(await seen()).toEqual([]);
    await page.getByRole("button", { name: "Notify me of new work" }).click();
    await page.getByRole("button", { name: "Turn notifications off" }).waitFor();
    handToMaria(editor);
    await page.getByRole("article", { name: "review from editor" }).nth(1).waitFor();
    const shown = ["asked", "shown: editor hands you work: review."];
    await expect.poll(seen, { timeout: LONG_MS }).toEqual(shown);
    await page.getByRole("status").filter({ hasText: "editor hands you work: review." }).waitFor();
  });

  test("hostile questions, schemas and work are harmless, and can be answered", async () => {
    const editor = await world.agent("editor");
    const deep: Record<string, unknown> = { type: "object", title: HOSTILE, description: HOSTILE };
    deep["properties"] = { [HOSTILE]: { enum: [HOSTILE] }, again: { $ref: "#" } };
    const anna = await world.agent("anna");
    anna.serve("research", async ({ ask }) => {
      const answer = await ask({
        id: HOSTILE.slice(0, 100),
        text: HOSTILE,
        data: { [HOSTILE]: HOSTILE },
        schema: deep as Json,
      });
      return { answer };
    });
    await anna.start();
    const page = await inboxOf(world, "maria");
    const handoff = handToMaria(editor, {
      input: { [HOSTILE]: HOSTILE },
      brief: { instruction: HOSTILE },
    });
    await page.getByRole("button", { name: "Accept", exact: true }).click();
    await handoff.accepted;
    await handOffFromPage(page, "maria", { to: "anna", capability: "research" });
    const questions = region(page, "Questions for you");
    await questions.getByRole("button", { name: "Answer" }).waitFor();
    await expectHarmless(page);
    await questions.getByRole("button", { name: "Edit as JSON" }).click();
    await questions.getByRole("textbox").fill(`{"again": {}}`);
    await questions.getByRole("button", { name: "Answer" }).click();
    await region(page, "Results of what you handed off").waitFor();
  });

  test("axe finds nothing in the inbox, before and after the person has enrolled", async () => {
    const editor = await world.agent("editor");
    const page = await world.view("/inbox");
    await page.getByLabel("Your name at this hub").waitFor();
    await expectAccessible(page, "not enrolled");
    await enrol(page, "maria");
    const handoff = handToMaria(editor);
    await page.getByRole("button", { name: "Accept", exact: true }).click();
    await handoff.accepted;
    handToMaria(editor);
    await page.getByRole("article", { name: "review from editor" }).waitFor();
    await page.getByRole("button", { name: "Deliver" }).click();
    for (const details of await page.locator("details").all()) {
      await details.evaluate((each) => ((each as HTMLDetailsElement).open = true));
    }
    await page.getByRole("button", { name: "Change what you publish" }).click();
    await page.getByRole("button", { name: "Publish", exact: true }).waitFor();
    await expectAccessible(page, "enrolled");
  });
});

interface Seen {
  seen: string[];
}

interface Found {
  found: { readonly key: CryptoKey; readonly kid: string; readonly domain: string };
}

/** Leaves what this browser keeps of the person where the next script finds it. */
async function findKey(page: Page): Promise<void> {
  await page.evaluate(async () => {
    const answerTo = <Value>(asked: IDBRequest) =>
      new Promise<Value>((resolve, reject) => {
        asked.addEventListener("success", () => resolve(asked.result as Value));
        asked.addEventListener("error", () => reject(new Error(asked.error?.message)));
      });
    const database = await answerTo<IDBDatabase>(indexedDB.open("waybill-console"));
    const store = () => database.transaction("session").objectStore("session");
    const names = await answerTo<string[]>(store().getAllKeys());
    const name = names.find((each) => each.startsWith("person "))!;
    (globalThis as never as Found).found = await answerTo(store().get(name));
    database.close();
  });
}

/**
 * Hands work off as the person, signed with the browser's key by nothing but WebCrypto: whatever
 * this key signs is an envelope like any other.
 */
async function handOffFromPage(
  page: Page,
  from: string,
  { to, capability }: { readonly to: string; readonly capability: string },
): Promise<string> {
  await findKey(page);
  return page.evaluate(
    async ({ from: agent, to: recipient, capability: wanted }) => {
      const { found: person } = globalThis as never as Found;
      const uuid = () => {
        const at = Date.now().toString(16).padStart(12, "0");
        const rest = crypto.randomUUID();
        return `${at.slice(0, 8)}-${at.slice(8)}-7${rest.slice(15)}`;
      };
      const encoded = (bytes: Uint8Array) =>
        btoa(String.fromCharCode(...bytes))
          .replaceAll("+", "-")
          .replaceAll("/", "_")
          .replaceAll("=", "");
      const text = (value: object) => encoded(new TextEncoder().encode(JSON.stringify(value)));
      const id = uuid();
      const envelope = {
        waybill: 1,
        kind: "handoff",
        id,
        from: agent,
        domain: person.domain,
        to: recipient,
        handoff_id: id,
        correlation_id: uuid(),
        issued_at: new Date().toISOString(),
        salt: encoded(crypto.getRandomValues(new Uint8Array(16))),
        deadline: new Date(Date.now() + 600_000).toISOString(),
        body: { capability: wanted, input: {} },
      };
      const header = { alg: "Ed25519", kid: person.kid, typ: "waybill+jws" };
      const signed = `${text(header)}.${text(envelope)}`;
      const bytes = new TextEncoder().encode(signed);
      const signature = new Uint8Array(await crypto.subtle.sign("Ed25519", person.key, bytes));
      const response = await fetch("/v1/envelopes", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ envelope: `${signed}.${encoded(signature)}` }),
      });
      if (!response.ok) throw new Error(await response.text());
      return id;
    },
    { from, to, capability },
  );
}
