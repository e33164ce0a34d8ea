/// <reference types="node" />
import { createServer } from "node:http";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Agent } from "@waybill/agent";
import { newId } from "@waybill/protocol";
import axe from "axe-core";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startDev, Workplace } from "../waybill-fixture.ts";
import type { Dev } from "../waybill-fixture.ts";
import { agentAt, CHROMIUM, MISSING, openBrowser, signIn } from "./browser-fixture.ts";
import type { Watched } from "./browser-fixture.ts";

// Set in the CI, where every optional dependency is installed.
if (CHROMIUM === undefined && process.env["WAYBILL_PEERS"] === "required") {
  test("a browser", () => expect.fail(MISSING));
}

/** Text that would run, restyle the page, or pose as other text, if a view were careless. */
const HOSTILE = [
  `<img src=x onerror=alert(1)><script>alert(2)</script>`,
  `"><svg/onload=alert(3)>`,
  `javascript:alert(4)`,
  `\u202egnp.exe\u2066 checked here \u2069`,
  `\u001b[31mred\u001b]8;;http://evil.example\u0007link`,
  `{{constructor.constructor('alert(5)')()}}`,
].join(" ");

describe.skipIf(CHROMIUM === undefined)(
  CHROMIUM === undefined ? `the console (skipped: ${MISSING})` : "the console",
  () => {
    let browser: Browser;
    let place: Workplace;
    let dev: Dev & { readonly console: string };
    let agents: Agent[];
    let opened: Watched[];

    beforeAll(async () => {
      browser = await openBrowser();
    });
    afterAll(() => browser.close());
    beforeEach(async () => {
      place = new Workplace();
      agents = [];
      opened = [];
      dev = (await startDev(place)) as typeof dev;
    });
    afterEach(async () => {
      const faults = opened.flatMap((each) => each.faults);
      for (const { context } of opened) await context.close();
      for (const each of agents) await each.stop();
      await dev.stop("SIGKILL");
      await place.close();
      expect(faults).toEqual([]);
    });

    async function open(link: string = dev.console): Promise<Page> {
      const watched = await signIn(browser, link);
      opened.push(watched);
      return watched.page;
    }

    async function agent(id: string): Promise<Agent> {
      const made = await agentAt(dev.url, id);
      agents.push(made);
      return made;
    }

    async function researcher(id = "anna"): Promise<Agent> {
      const made = await agent(id);
      made.serve<{ topic: string }>(
        { name: "research", input_schema: { topic: "string" }, lease_seconds: 20 },
        async ({ input, progress }) => {
          await progress({ message: `reading about ${input.topic}`, fraction: 0.5 });
          if (input.topic === "closed") throw new Error("The archive is closed");
          return { summary: `all about ${input.topic}` };
        },
      );
      await made.start();
      return made;
    }

    test("a link signs in once, leaves no secret behind, and the session survives a reload", async () => {
      const page = await open();
      await page.getByRole("heading", { name: "Now" }).waitFor();
      const code = dev.console.split("/").at(-1)!;
      expect(page.url()).not.toContain(code);
      expect(await page.context().cookies()).toEqual([]);
      expect(await page.evaluate(() => JSON.stringify([localStorage, sessionStorage]))).not.toMatch(
        /[\w-]{43}/,
      );
      await page.goBack().catch(() => undefined);
      expect(page.url()).not.toContain(code);
      await page.goto(`${dev.url}/console`);
      await page.getByRole("heading", { name: "Now" }).waitFor();
      await page.getByText("Live", { exact: true }).waitFor();

      const other = await open();
      await other.getByText("already used").waitFor();
      await page.getByRole("button", { name: "Sign out" }).click();
      await page.reload();
      await page.getByRole("heading", { name: "Waybill console" }).waitFor();
    });

    test("handoffs appear as they happen, and each signature of one is checked in the browser", async () => {
      await researcher();
      const page = await open();
      await page.getByText("Live", { exact: true }).waitFor();
      const editor = await agent("editor");
      const handoff = editor.handoff({
        to: "anna",
        capability: "research",
        input: { topic: "waybills" },
      });
      await handoff.result;
      const row = page.getByRole("row").filter({ hasText: handoff.id.slice(-8) });
      await row.getByText("completed").waitFor();
      await row.getByRole("link").click();
      await page.getByText(/All \d+ signatures hold/).waitFor();
      await page.getByText("reading about waybills").waitFor();
      expect(await page.getByLabel("Output").textContent()).toContain("all about waybills");
      expect(await page.getByText(/✓ checked here$/).count()).toBeGreaterThan(4);
      expect(await page.getByText("does not hold").count()).toBe(0);
    });

    test("the hub is killed and comes back: the page says so, and catches up by itself", async () => {
      const page = await open();
      await page.getByText("Live", { exact: true }).waitFor();
      const port = new URL(dev.url).port;
      await dev.stop("SIGKILL");
      await page.getByRole("alert").filter({ hasText: "does not answer" }).waitFor();
      dev = (await startDev(place, ["--port", port])) as typeof dev;
      await researcher();
      const editor = await agent("editor");
      const handoff = editor.handoff({
        to: "anna",
        capability: "research",
        input: { topic: "later" },
      });
      await handoff.result;
      await page
        .getByRole("row")
        .filter({ hasText: handoff.id.slice(-8) })
        .getByText("completed")
        .waitFor();
      await page.getByRole("alert").first().waitFor({ state: "hidden" });
    });

    test("axe finds nothing on any view, in light and dark, wide and narrow", async () => {
      const correlationId = newId();
      await researcher();
      const editor = await agent("editor");
      const handoff = editor.handoff({
        to: "anna",
        capability: "research",
        input: { topic: "waybills" },
        correlationId,
      });
      await handoff.result;
      const page = await open();
      const views = [
        "/",
        "/handoffs",
        `/handoffs/${handoff.id}`,
        `/jobs/${correlationId}`,
        "/dead-letters",
        "/agents",
        "/agents/anna",
        "/ledger",
      ];
      for (const path of views) {
        await page.goto(`${dev.url}/console#${path}`);
        await page.getByRole("heading", { level: 1 }).waitFor();
        await page
          .getByText(/^(Reading|Asking|Loading)/)
          .first()
          .waitFor({ state: "hidden" });
        for (const colorScheme of ["light", "dark"] as const) {
          for (const width of [1440, 390]) {
            await page.emulateMedia({ colorScheme });
            await page.setViewportSize({ width, height: 900 });
            // Evaluated by the debugger, which the page's policy does not bind.
            await page.evaluate(axe.source);
            const found = await page.evaluate(() =>
              (globalThis as never as { axe: Axe }).axe.run({
                runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"],
              }),
            );
            const told = found.violations.map(({ id, nodes }) => `${id}: ${nodes[0]!.html}`);
            expect(told, `${path} ${colorScheme} ${width}`).toEqual([]);
          }
        }
      }
    });

    test("hostile text in every place neither runs nor misleads", async () => {
      const correlationId = newId();
      const hostile = await agent("hostile");
      hostile.serve({ name: "research", description: HOSTILE }, async ({ progress }) => {
        await progress({ message: HOSTILE });
        throw new Error(HOSTILE);
      });
      await hostile.start();
      const editor = await agent("editor");
      const handoff = editor.handoff({
        to: "hostile",
        capability: "research",
        correlationId,
        input: { [HOSTILE]: HOSTILE },
        brief: { instruction: HOSTILE, expected_output: HOSTILE },
        messages: [{ role: "user", name: HOSTILE, content: [{ type: "text", text: HOSTILE }] }],
        artifacts: [
          { name: HOSTILE, media_type: "text/html", bytes: new TextEncoder().encode(HOSTILE) },
        ],
      } as never);
      await expect(handoff.result).rejects.toMatchObject({ status: 500 });
      const page = await open();
      const views = [
        "/",
        "/handoffs",
        `/jobs/${correlationId}`,
        "/agents/hostile",
        `/handoffs/${handoff.id}`,
      ];
      for (const path of views) {
        await page.goto(`${dev.url}/console#${path}`);
        await page.getByText("⟨U+202E⟩").first().waitFor({ state: "attached" });
        const text = await page.locator("body").textContent();
        expect(visibleOnly(text!)).toBe(text);
      }
      await page.getByText(/All \d+ signatures hold/).waitFor();
    });

    test("a hub that alters, swaps or withholds is shown up by a page of one's own machine", async () => {
      const liar = new Liar();
      const liarsUrl = await liar.open();
      const honest = place.start(
        ["hub", "--json", "--port", "0", "--data", place.path("other")].concat(
          "--database",
          place.path("other", "hub.db"),
          "--newcomers",
          "open",
          "--allowed-hosts",
          new URL(liarsUrl).host,
        ),
      );
      liar.honest = (JSON.parse(await honest.line()) as { url: string }).url;
      dev = { ...dev, url: liar.honest };
      await researcher();
      const editor = await agent("editor");
      const work = (topic: string) =>
        editor.handoff({ to: "anna", capability: "research", input: { topic } });
      const [first, second] = [work("waybills"), work("other things")];
      await Promise.all([first.result, second.result]);
      try {
        const own = place.start([
          "console",
          "--json",
          "--hub",
          liarsUrl,
          "--data",
          place.path("other"),
        ]);
        const { console: link } = JSON.parse(await own.line()) as { console: string };
        const page = await open(link);
        const { origin } = new URL(link);
        const look = () => page.goto(`${origin}/console#/handoffs/${first.id}`);
        await look();
        await page.getByText(/All \d+ signatures hold/).waitFor();

        await page.goto(`${origin}/console#/handoffs/${second.id}`);
        await page.getByRole("heading", { name: second.id }).waitFor();
        await page.getByText(/All \d+ signatures hold/).waitFor();
        const swap = (path: string) => liar.seen.get(path.replace(first.id, second.id))!;
        const lies: readonly (readonly [says: RegExp, lie: Lie])[] = [
          [/Entry \d+: /, (_, text) => text.replaceAll(PAYLOAD, withAnotherEnd)],
          [/The hub shows it here/, (path, text) => (path.includes("history") ? swap(path) : text)],
          [/no recipient has signed a result/, (_, text) => withoutResult(text)],
        ];
        for (const [says, lie] of lies) {
          liar.lie = (path, text) => (path.includes(first.id) ? lie(path, text) : text);
          await page.goto(`${origin}/console#/`);
          await page.getByRole("heading", { name: "Now" }).waitFor();
          await look();
          const alert = page.getByRole("alert").filter({ hasText: "Do not rely on this page" });
          await alert.filter({ hasText: says }).waitFor();
        }
      } finally {
        liar.close();
      }
    });
  },
);

interface Axe {
  run(options: object): Promise<{
    readonly violations: readonly {
      readonly id: string;
      readonly nodes: readonly { readonly html: string }[];
    }[];
  }>;
}

/** What a hub says instead of what is so. */
type Lie = (path: string, text: string) => string;

/** The beginning of a signed envelope, up to somewhere in its payload. */
const PAYLOAD = /"content":"[\w-]+\.[\w-]{200}/g;

function withAnotherEnd(found: string): string {
  return found.slice(0, -1) + (found.endsWith("A") ? "B" : "A");
}

/** The text without characters that act on others or are not seen. */
function visibleOnly(text: string): string {
  return text.replaceAll(/(?![\n\t])[\p{Cc}\p{Cf}]/gu, "");
}

/** The history without the envelopes of the recipient's result. */
function withoutResult(text: string): string {
  const value = JSON.parse(text) as { entries?: { content: string; type: string }[] };
  if (value.entries === undefined) return text;
  const entries = value.entries.filter(({ type, content }) => {
    if (type !== "envelope") return true;
    const payload = Buffer.from(content.split(".")[1]!, "base64url").toString();
    return (JSON.parse(payload) as { kind: string }).kind !== "result";
  });
  return JSON.stringify({ ...value, entries });
}

/** A hub that passes everything on to an honest one, and changes what it is told to. */
class Liar {
  lie: Lie = (_, text) => text;
  /** What the honest hub has answered, by path. */
  readonly seen = new Map<string, string>();
  honest = "";
  #server: Server | undefined;

  async open(): Promise<string> {
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const { authorization, accept, "content-type": type } = request.headers;
        void this.#answer(request.url!, request.method!, Buffer.concat(chunks), {
          authorization,
          accept,
          "content-type": type,
        }).then(
          async (answer) => {
            response.writeHead(answer.status, {
              "content-type": answer.headers.get("content-type") ?? "text/plain",
            });
            const path = request.url!;
            if (path.includes("/watch")) {
              // It ends with either side.
              return pipeline(Readable.fromWeb(answer.body as never), response).catch(
                () => undefined,
              );
            }
            const text = await answer.text();
            this.seen.set(path, text);
            return response.end(this.lie(path, text));
          },
          () => response.destroy(),
        );
      });
    });
    await new Promise<void>((resolve) => this.#server!.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server?.closeAllConnections();
    this.#server?.close();
  }

  #answer(
    path: string,
    method: string,
    body: Buffer<ArrayBuffer>,
    headers: Record<string, string | undefined>,
  ): Promise<Response> {
    const given = Object.entries(headers).filter(([, value]) => value !== undefined);
    return fetch(this.honest + path, {
      method,
      headers: given as [string, string][],
      ...(method === "GET" ? {} : { body }),
    });
  }
}
