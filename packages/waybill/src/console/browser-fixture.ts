/// <reference types="node" />
import { existsSync } from "node:fs";
import { createAgent } from "@waybill/agent";
import type { Agent } from "@waybill/agent";
import { connect } from "@waybill/agent/connect";
import { generateKey } from "@waybill/protocol";
import type { PrivateKey } from "@waybill/protocol";
import { chromium } from "playwright-core";
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";

/** The browser of this machine, if it has one. */
export const CHROMIUM: string | undefined = [
  process.env["CHROMIUM_PATH"],
  "/usr/bin/chromium",
].find((path) => path !== undefined && existsSync(path));

export const MISSING = "no Chromium: install it, or name it in CHROMIUM_PATH";

const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export function openBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: CHROMIUM!, headless: true, args: FLAGS });
}

/** A page, and everything that it did although it must not. */
export interface Watched {
  readonly context: BrowserContext;
  readonly page: Page;
  /** Errors, dialogs, violations of the page's policy, and requests to anywhere else. */
  readonly faults: string[];
}

/** A browser profile of its own, signed in with a link. */
export async function signIn(
  browser: Browser,
  link: string,
  options: BrowserContextOptions = {},
): Promise<Watched> {
  const context = await browser.newContext({
    viewport: { width: 1440, height: 900 },
    ...options,
  });
  // The test's own timeout counts: a loaded machine is slow.
  context.setDefaultTimeout(0);
  const page = await context.newPage();
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(`error: ${error.message}`));
  page.on("dialog", (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("console", (message) => {
    const text = message.text();
    // The browser reports itself that a server is gone, and what a server refuses.
    if (message.type() === "error" && !text.startsWith("Failed to load resource"))
      faults.push(text);
  });
  const { origin } = new URL(link);
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(`${origin}/`) && !url.startsWith("blob:")) faults.push(`request: ${url}`);
  });
  await page.goto(link);
  return { context, page, faults };
}

/** An agent that is connected to a hub at this address. */
export async function agentAt(
  url: string,
  id: string,
  key: PrivateKey = generateKey(),
): Promise<Agent> {
  return createAgent({ id, key, hub: await connect(url) });
}
