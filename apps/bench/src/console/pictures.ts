/// <reference types="node" />
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { memoryStore, openHub } from "@waybill/hub";
import { serveHub } from "@waybill/server";
import { chromium } from "playwright-core";
import type { BrowserContextOptions, Page } from "playwright-core";
import { play } from "./scene.ts";

// Takes the pictures of the console in the project's README, or with --into those of every view, in
// light and dark, wide and narrow.

const DOCS = fileURLToPath(new URL("../../../../docs/", import.meta.url));
const CHART_MS = 1_500;
const SIZES = { wide: { width: 1440, height: 900 }, narrow: { width: 390, height: 844 } } as const;

const { values } = parseArgs({
  options: { into: { type: "string" }, seconds: { type: "string", default: "45" } },
});
const executablePath = [process.env["CHROMIUM_PATH"], "/usr/bin/chromium"].find(
  (path) => path !== undefined && existsSync(path),
);
if (executablePath === undefined) {
  throw new Error("There is no Chromium here: install it, or name it in CHROMIUM_PATH.");
}

const store = memoryStore();
const hub = await openHub({ store, newcomers: "open" });
const served = await serveHub({ hub, store });
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
const scene = await play(hub, Number(values.seconds));
try {
  if (values.into === undefined) {
    const page = await signedIn({ viewport: SIZES.wide });
    await picture(page, "/", join(DOCS, "console-now.png"));
    await picture(page, `/jobs/${scene.job}`, join(DOCS, "console-job.png"));
  } else {
    await everyView(values.into);
  }
} finally {
  await browser.close();
  await scene.stop();
  await served.close();
  await hub.close();
}

async function everyView(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const views: Readonly<Record<string, string>> = {
    now: "/",
    inbox: "/inbox",
    handoffs: "/handoffs",
    handoff: `/handoffs/${scene.handoff}`,
    job: `/jobs/${scene.job}`,
    "dead-letters": "/dead-letters",
    "dead-letter": `/dead-letters/${scene.deadLetter}`,
    agents: "/agents",
    agent: "/agents/anna",
    ledger: "/ledger",
  };
  for (const colorScheme of ["light", "dark"] as const) {
    for (const [size, viewport] of Object.entries(SIZES)) {
      const page = await signedIn({ viewport, colorScheme });
      await enrol(page, `maria-${colorScheme}-${size}`);
      for (const [name, path] of Object.entries(views)) {
        await picture(page, path, join(folder, `${name}-${size}-${colorScheme}.png`), true);
      }
      await page.context().close();
    }
  }
}

async function signedIn(options: BrowserContextOptions): Promise<Page> {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  await page.goto(served.consoleLink());
  await page.getByText("Live", { exact: true }).waitFor({ state: "attached" });
  return page;
}

/** A person with work to do. */
async function enrol(page: Page, name: string): Promise<void> {
  await page.goto(`${served.url}/console#/inbox`);
  await page.getByLabel("Your name at this hub").fill(name);
  await page.getByRole("button", { name: "Make a key and enrol" }).click();
  await page.getByText("open: agents can reach you").waitFor();
  await scene.handTo(name);
  await page.getByRole("article").first().waitFor();
  await page.goto(`${served.url}/console#/dead-letters`);
  await page.getByRole("button", { name: "Enrol a key" }).click();
  await page.getByText(/^You sign as/).waitFor();
}

async function picture(page: Page, path: string, file: string, fullPage = false): Promise<void> {
  await page.goto(`${served.url}/console#${path}`);
  await page.getByRole("heading", { level: 1 }).waitFor();
  await page
    .getByText(/^(Reading|Asking|Loading|Looking)/)
    .first()
    .waitFor({ state: "hidden" });
  // The chart is drawn once a second.
  await sleep(CHART_MS);
  await page.screenshot({ path: file, fullPage });
}
