/// <reference types="node" />
import type { Agent } from "@waybill/agent";
import { generateKey } from "@waybill/protocol";
import type { Json, PrivateKey } from "@waybill/protocol";
import axe from "axe-core";
import type { Browser, Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect } from "vitest";
import { startDev, Workplace } from "../waybill-fixture.ts";
import type { Dev, Running } from "../waybill-fixture.ts";
import { agentAt, CHROMIUM, MISSING, openBrowser, signIn } from "./browser-fixture.ts";
import type { Watched } from "./browser-fixture.ts";

/** Text that would run, restyle the page, or pose as other text, if a view were careless. */
export const HOSTILE: string = [
  `<img src=x onerror=alert(1)><script>alert(2)</script>`,
  `"><svg/onload=alert(3)>`,
  `javascript:alert(4)`,
  `\u202egnp.exe\u2066 checked here \u2069`,
  `\u001b[31mred\u001b]8;;http://evil.example\u0007link`,
  `{{constructor.constructor('alert(5)')()}}`,
].join(" ");

/** A group of tests in a real browser; each has a hub of its own, and fails if the page has faults. */
export function describeConsole(name: string, tests: (world: ConsoleWorld) => void): void {
  const isMissing = CHROMIUM === undefined;
  describe.skipIf(isMissing)(isMissing ? `${name} (skipped: ${MISSING})` : name, () => {
    const world = new ConsoleWorld();
    beforeAll(() => world.launch());
    afterAll(() => world.browser.close());
    beforeEach(() => world.start());
    afterEach(async () => expect(await world.stop()).toEqual([]));
    tests(world);
  });
}

/** A hub with its console, agents at it, and the pages that were opened. */
export class ConsoleWorld {
  browser!: Browser;
  place!: Workplace;
  dev!: Dev & { readonly console: string };
  #agents: Agent[] = [];
  #opened: Watched[] = [];
  readonly #reviewerKey: PrivateKey = generateKey();

  async launch(): Promise<void> {
    this.browser = await openBrowser();
  }

  async start(): Promise<void> {
    this.place = new Workplace();
    this.#agents = [];
    this.#opened = [];
    await this.startHub();
  }

  /** A hub in the folder of this world; again after it was killed. */
  async startHub(words?: readonly string[]): Promise<void> {
    this.dev = (await startDev(this.place, words)) as ConsoleWorld["dev"];
  }

  /** Returns what pages did although they must not. */
  async stop(): Promise<readonly string[]> {
    const faults = this.#opened.flatMap((each) => each.faults);
    for (const { context } of this.#opened) await context.close();
    // At once: after a failed test a handler may wait for an answer that does not come.
    for (const each of this.#agents) await each.stop({ mode: "abandon" });
    await this.dev.stop("SIGKILL");
    await this.place.close();
    return faults;
  }

  /** A page in a browser profile of its own, as a link leads to it. */
  async open(link: string = this.dev.console): Promise<Page> {
    const watched = await signIn(this.browser, link);
    this.#opened.push(watched);
    return watched.page;
  }

  /** The same at one view. */
  async view(path: string, link: string = this.dev.console): Promise<Page> {
    const page = await this.open(link);
    await page.getByRole("heading", { name: "Now" }).waitFor();
    await page.goto(`${new URL(link).origin}/console#${path}`);
    return page;
  }

  /** A second link, as an operator or a reader gets it. */
  async link(role: string): Promise<string> {
    const served: Running = this.place.start([
      "console",
      "--json",
      "--role",
      role,
      "--hub",
      this.dev.url,
    ]);
    return (JSON.parse(await served.line()) as { console: string }).console;
  }

  async agent(id: string, key?: PrivateKey): Promise<Agent> {
    const made = await agentAt(this.dev.url, id, key);
    this.#agents.push(made);
    return made;
  }

  /** Serves `research`: it fails for the topic "closed", and waits until it may begin. */
  async researcher(id = "anna", mayBegin: Promise<void> = Promise.resolve()): Promise<Agent> {
    const made = await this.agent(id);
    made.serve<{ topic: string }>(
      {
        name: "research",
        reliability_sla: 0.9,
        lease_seconds: 20,
        input_schema: {
          type: "object",
          required: ["topic"],
          properties: { topic: { type: "string", description: "what to look up" } },
        },
      },
      async ({ input, progress }) => {
        await mayBegin;
        await progress({ message: `reading about ${input.topic}`, fraction: 0.5 });
        if (input.topic === "closed") throw new Error("The archive is closed");
        return { summary: `all about ${input.topic}` };
      },
    );
    await made.start();
    return made;
  }

  /** dora, who serves `review` of a page; returns every input that she gets from now on. */
  async reviewer(): Promise<readonly Json[]> {
    const inputs: Json[] = [];
    const dora = await this.agent("dora", this.#reviewerKey);
    const page = { type: "integer", description: "which page" };
    dora.serve(
      {
        name: "review",
        input_schema: { type: "object", required: ["page"], properties: { page } },
      },
      ({ input }) => {
        inputs.push(input);
        return { verdict: "good" };
      },
    );
    await dora.start();
    return inputs;
  }

  /** Dead letters: their recipient, dora, is away. `inputOf` makes the input of each. */
  async deadLetters(
    count: number,
    inputOf: (page: number) => Json = (page) => ({ page }),
  ): Promise<readonly string[]> {
    const away = await agentAt(this.dev.url, "dora", this.#reviewerKey);
    away.serve({ name: "review" }, () => ({}));
    await away.start();
    await away.stop();
    const editor = await this.agent("editor");
    const ids: string[] = [];
    while (ids.length < count) {
      const length = Math.min(HANDED_OFF_AT_ONCE, count - ids.length);
      const inputs = Array.from({ length }, (_, index) => inputOf(ids.length + index));
      ids.push(...(await Promise.all(inputs.map((input) => deadLetter(editor, input)))));
    }
    return ids;
  }
}

const HANDED_OFF_AT_ONCE = 250;

/** The id of a handoff to dora, who is away, after its deadline. */
async function deadLetter(editor: Agent, input: Json): Promise<string> {
  for (;;) {
    const work = { to: "dora", capability: "review", input, timeoutMs: 1_000 };
    const handoff = editor.handoff<Json>(work);
    const ended = handoff.result.catch(() => undefined);
    const isInCustody = await handoff.custody.then(
      () => true,
      // On a loaded machine the deadline may pass before the hub has it.
      () => false,
    );
    await ended;
    if (isInCustody) return handoff.id;
  }
}

/** Waits until the page shows so many: it may still be rendering. */
export async function waitForCount(found: Locator, count: number): Promise<void> {
  await found.nth(count - 1).waitFor();
  await found.nth(count).waitFor({ state: "detached" });
}

/** Fails if axe finds something on the page, in light or dark, wide or narrow. */
export async function expectAccessible(page: Page, what: string): Promise<void> {
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
      expect(told, `${what} ${colorScheme} ${width}`).toEqual([]);
    }
  }
}

interface Axe {
  run(options: object): Promise<{
    readonly violations: readonly {
      readonly id: string;
      readonly nodes: readonly { readonly html: string }[];
    }[];
  }>;
}

/** Fails if the page shows characters that act on others, or that are not seen. */
export async function expectHarmless(page: Page): Promise<void> {
  await page.getByText("⟨U+202E⟩").first().waitFor({ state: "attached" });
  const text = (await page.locator("body").textContent())!;
  expect(text.replaceAll(/(?![\n\t])[\p{Cc}\p{Cf}]/gu, "")).toBe(text);
}
