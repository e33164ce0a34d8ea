/// <reference types="node" />
/// <reference lib="dom" />
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { cpus, loadavg } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { consolePage } from "@waybill/console";
import { memoryStore, openHub } from "@waybill/hub";
import { serveHub } from "@waybill/server";
import { chromium } from "playwright-core";
import type { Page } from "playwright-core";
import { ENTRIES_PER_HANDOFF, Feed } from "./feed.ts";
import { StandIn } from "./stand-in.ts";

// Measures the budgets of the console in a real browser, and writes them into its README.

const README = new URL("../../../../packages/console/README.md", import.meta.url);
const HANDOFFS = 100_000;
const HANDOFFS_AT_ONCE = 500;
const EVENTS_PER_SECOND = 1_000;
const STEPS_PER_SECOND = 20;
const WARM_UP_SECONDS = 10;
const OPENINGS = 5;
const POLL_MS = 100;
const FRAMES = 900;
const PIXELS_PER_FRAME = 3_700;
const MEGABYTE = 1_000_000;

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "60" },
    write: { type: "boolean", default: false },
  },
});
const seconds = Number(values.seconds);
const executablePath = [process.env["CHROMIUM_PATH"], "/usr/bin/chromium"].find(
  (path) => path !== undefined && existsSync(path),
);
if (executablePath === undefined) {
  throw new Error("There is no Chromium here: install it, or name it in CHROMIUM_PATH.");
}

const standIn = await StandIn.open();
const store = memoryStore();
const hub = await openHub({ store, newcomers: "open" });
const served = await serveHub({ hub, store, allowedHosts: [standIn.host] });
standIn.hub = served.url;
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
try {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  await context.addInitScript(watch);
  const page = await context.newPage();
  const code = served.consoleLink().split("#").at(-1)!;
  await page.goto(`http://${standIn.host}/console#${code}`);
  await page.getByRole("heading", { name: "Now" }).waitFor();

  const script = await scriptBytes();
  const opened: number[] = [];
  for (let count = 0; count < OPENINGS; count++) opened.push(await openingMs(page));
  await standIn.watched();
  await page.goto(`http://${standIn.host}/console#/handoffs`);
  const { sequence } = await headOf();
  const feed = new Feed(sequence);
  await fill(page, feed);
  const frames = await scrollFrames(page);
  await page.goto(`http://${standIn.host}/console#/`);
  await page.getByRole("heading", { name: "Now" }).waitFor();
  // What the first events load and compile stays.
  await stream(page, feed, WARM_UP_SECONDS);
  const load = await stream(page, feed, seconds);

  const rows = [
    ["Script of the first view, compressed", kilobytes(script), "200 kB"],
    [`Interactive after (median of ${OPENINGS} openings)`, ms(median(opened)), "1,000 ms"],
    [
      `Longest frame while ${HANDOFFS.toLocaleString("en")} handoffs scroll (99th percentile)`,
      `${ms(Math.max(...frames))} (${ms(quantile(frames, 0.99))})`,
      "50 ms",
    ],
    [
      `Longest task at ${EVENTS_PER_SECOND.toLocaleString("en")} events a second for ${seconds} s`,
      load.longest === 0 ? "under 50 ms" : ms(load.longest),
      "100 ms",
    ],
    [
      `Memory of scripts before and after that, ${WARM_UP_SECONDS} s from the first events`,
      `${megabytes(load.before)} and ${megabytes(load.after)}`,
      "flat",
    ],
  ];
  const table = [
    "| Budget | Measured | Wanted at most |",
    "| --- | --- | --- |",
    ...rows.map((row) => `| ${row.join(" | ")} |`),
  ].join("\n");
  const where = `Measured on ${new Date().toISOString().slice(0, 10)} with Chromium ${browser.version()} on ${cpus().length} cores, at a load average of ${loadavg()[0]!.toFixed(0)}: above the number of cores, the times say as much about other work on the machine as about the page.`;
  console.log(`${table}\n\n${where}`);
  if (values.write) await write(`${where}\n\n${table}`);
} finally {
  await browser.close();
  standIn.close();
  await served.close();
  await hub.close();
}

/** Runs in the page before anything else: notes when it can be used, and the long tasks. */
function watch(): void {
  const seen = { usableMs: 0, longest: 0 };
  Object.assign(globalThis, { seen });
  const observer = new MutationObserver(() => {
    if (document.querySelector("h1")?.textContent !== "Now") return;
    observer.disconnect();
    // A task that is queued now runs once the page can answer to input.
    setTimeout(() => (seen.usableMs = performance.now()));
  });
  observer.observe(document, { childList: true, subtree: true });
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) seen.longest = Math.max(seen.longest, duration);
  }).observe({ entryTypes: ["longtask"] });
}

interface Seen {
  readonly seen: { usableMs: number; longest: number };
}

async function scriptBytes(): Promise<number> {
  const { files } = await consolePage();
  const index = Buffer.from(files.get("index.html")!.bytes).toString();
  const names = [...index.matchAll(/(?:src|href)="\/console\/([\w.-]+\.js)"/g)];
  return names.reduce((sum, [, name]) => sum + files.get(name!)!.compressed.length, 0);
}

async function openingMs(page: Page): Promise<number> {
  await page.reload();
  for (;;) {
    const usableMs = await page.evaluate(() => (globalThis as never as Seen).seen.usableMs);
    if (usableMs > 0) return usableMs;
    await sleep(POLL_MS);
  }
}

async function headOf(): Promise<{ readonly sequence: number }> {
  const text = await hub.operator.checkpoint();
  return JSON.parse(Buffer.from(text.split(".")[1]!, "base64url").toString()) as never;
}

async function fill(page: Page, feed: Feed): Promise<void> {
  for (let sent = 0; sent < HANDOFFS; sent += HANDOFFS_AT_ONCE) {
    await standIn.send(Array.from({ length: HANDOFFS_AT_ONCE }, () => feed.next()).join(""));
  }
  const list = page.getByRole("table", { name: "Handoffs" });
  while (Number(await list.getAttribute("aria-rowcount")) <= HANDOFFS) await sleep(POLL_MS);
}

/** How long each frame took while the list was scrolled from its beginning to its end. */
async function scrollFrames(page: Page): Promise<readonly number[]> {
  return page.evaluate(
    async ({ count, pixels }) => {
      const scroller = document.querySelector(".scroller")!;
      const frame = () => new Promise<number>((resolve) => requestAnimationFrame(resolve));
      for (let idle = 0; idle < 30; idle++) await frame();
      const found: number[] = [];
      let before = await frame();
      for (let index = 0; index < count; index++) {
        scroller.scrollTop += pixels;
        const at = await frame();
        found.push(at - before);
        before = at;
      }
      return found;
    },
    { count: FRAMES, pixels: PIXELS_PER_FRAME },
  );
}

/** New events at an exact rate, with the page at its limit of rows. */
async function stream(page: Page, feed: Feed, lastsSeconds: number) {
  const before = await heapOf(page);
  await page.evaluate(() => ((globalThis as never as Seen).seen.longest = 0));
  const perStep = EVENTS_PER_SECOND / ENTRIES_PER_HANDOFF / STEPS_PER_SECOND;
  const begun = performance.now();
  let sent = 0;
  for (let step = 1; step <= lastsSeconds * STEPS_PER_SECOND; step++) {
    const due = Math.round(step * perStep);
    await standIn.send(Array.from({ length: due - sent }, () => feed.next()).join(""));
    sent = due;
    await sleep(Math.max(0, begun + (step * 1_000) / STEPS_PER_SECOND - performance.now()));
  }
  const longest = await page.evaluate(() => (globalThis as never as Seen).seen.longest);
  return { longest, before, after: await heapOf(page) };
}

async function heapOf(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = (await session.send("Runtime.getHeapUsage")) as { usedSize: number };
  await session.detach();
  return usedSize;
}

async function write(text: string): Promise<void> {
  const readme = await readFile(README, "utf8");
  const marked = /(<!-- budgets -->)[\s\S]*(<!-- \/budgets -->)/;
  const written = (_: string, begin: string, end: string) => `${begin}\n\n${text}\n\n${end}`;
  await writeFile(README, readme.replace(marked, written));
}

function median(all: readonly number[]): number {
  return quantile(all, 0.5);
}

function quantile(all: readonly number[], share: number): number {
  const sorted = all.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]!;
}

function ms(value: number): string {
  return `${Math.round(value).toLocaleString("en")} ms`;
}

function kilobytes(value: number): string {
  return `${Math.round(value / 1_000)} kB`;
}

function megabytes(value: number): string {
  return `${(value / MEGABYTE).toFixed(1)} MB`;
}
