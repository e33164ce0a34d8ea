/// <reference types="node" />
import { createServer } from "node:http";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { newId } from "@waybill/protocol";
import { expect, test } from "vitest";
import { CHROMIUM, MISSING } from "./browser-fixture.ts";
import { describeConsole, expectAccessible, expectHarmless, HOSTILE } from "./console-fixture.ts";

// Set in the CI, where every optional dependency is installed.
if (CHROMIUM === undefined && process.env["WAYBILL_PEERS"] === "required") {
  test("a browser", () => expect.fail(MISSING));
}

describeConsole("the console", (world) => {
  test("a link signs in once, leaves no secret behind, and the session survives a reload", async () => {
    const page = await world.open();
    await page.getByRole("heading", { name: "Now" }).waitFor();
    const code = world.dev.console.split("/").at(-1)!;
    expect(page.url()).not.toContain(code);
    expect(await page.context().cookies()).toEqual([]);
    expect(await page.evaluate(() => JSON.stringify([localStorage, sessionStorage]))).not.toMatch(
      /[\w-]{43}/,
    );
    await page.goBack().catch(() => undefined);
    expect(page.url()).not.toContain(code);
    await page.goto(`${world.dev.url}/console`);
    await page.getByRole("heading", { name: "Now" }).waitFor();
    await page.getByText("Live", { exact: true }).waitFor();

    const other = await world.open();
    await other.getByText("already used").waitFor();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("heading", { name: "Waybill console" }).waitFor();
    await page.reload();
    await page.getByRole("heading", { name: "Waybill console" }).waitFor();
  });

  test("handoffs appear as they happen, and each signature of one is checked in the browser", async () => {
    await world.researcher();
    const page = await world.open();
    await page.getByText("Live", { exact: true }).waitFor();
    const editor = await world.agent("editor");
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
    await page.getByLabel("Output").filter({ hasText: "all about waybills" }).waitFor();
    await page
      .getByText(/✓ checked here$/)
      .nth(4)
      .waitFor();
    expect(await page.getByText("does not hold").count()).toBe(0);
  });

  test("the hub is killed and comes back: the page says so, and catches up by itself", async () => {
    const page = await world.open();
    await page.getByText("Live", { exact: true }).waitFor();
    const port = new URL(world.dev.url).port;
    await world.dev.stop("SIGKILL");
    await page.getByRole("alert").filter({ hasText: "does not answer" }).waitFor();
    await world.startHub(["--port", port]);
    await world.researcher();
    const editor = await world.agent("editor");
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
    await world.researcher();
    const editor = await world.agent("editor");
    const handoff = editor.handoff({
      to: "anna",
      capability: "research",
      input: { topic: "waybills" },
      correlationId,
    });
    await handoff.result;
    const page = await world.open();
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
      await page.goto(`${world.dev.url}/console#${path}`);
      await page.getByRole("heading", { level: 1 }).waitFor();
      await page
        .getByText(/^(Reading|Asking|Loading)/)
        .first()
        .waitFor({ state: "hidden" });
      await expectAccessible(page, path);
    }
  });

  test("hostile text in every place neither runs nor misleads", async () => {
    const correlationId = newId();
    const hostile = await world.agent("hostile");
    hostile.serve({ name: "research", description: HOSTILE }, async ({ progress }) => {
      await progress({ message: HOSTILE });
      throw new Error(HOSTILE);
    });
    await hostile.start();
    const editor = await world.agent("editor");
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
    const page = await world.open();
    const views = [
      "/",
      "/handoffs",
      `/jobs/${correlationId}`,
      "/agents/hostile",
      `/handoffs/${handoff.id}`,
    ];
    for (const path of views) {
      await page.goto(`${world.dev.url}/console#${path}`);
      await expectHarmless(page);
    }
    await page.getByText(/All \d+ signatures hold/).waitFor();
  });

  test("a hub that alters, swaps or withholds is shown up by a page of one's own machine", async () => {
    const liar = new Liar();
    const liarsUrl = await liar.open();
    const honest = world.place.start(
      ["hub", "--json", "--port", "0", "--data", world.place.path("other")].concat(
        "--database",
        world.place.path("other", "hub.db"),
        "--newcomers",
        "open",
        "--allowed-hosts",
        new URL(liarsUrl).host,
      ),
    );
    liar.honest = (JSON.parse(await honest.line()) as { url: string }).url;
    world.dev = { ...world.dev, url: liar.honest };
    await world.researcher();
    const editor = await world.agent("editor");
    const work = (topic: string) =>
      editor.handoff({ to: "anna", capability: "research", input: { topic } });
    const [first, second] = [work("waybills"), work("other things")];
    await Promise.all([first.result, second.result]);
    try {
      const own = world.place.start([
        "console",
        "--json",
        "--hub",
        liarsUrl,
        "--data",
        world.place.path("other"),
      ]);
      const { console: link } = JSON.parse(await own.line()) as { console: string };
      const page = await world.open(link);
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
});

/** What a hub says instead of what is so. */
type Lie = (path: string, text: string) => string;

/** The beginning of a signed envelope, up to somewhere in its payload. */
const PAYLOAD = /"content":"[\w-]+\.[\w-]{200}/g;

function withAnotherEnd(found: string): string {
  return found.slice(0, -1) + (found.endsWith("A") ? "B" : "A");
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
      ...(method === "GET" ? {} : { body: body.toString() }),
    });
  }
}
