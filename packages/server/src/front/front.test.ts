/// <reference types="node" />
import { createHash } from "node:crypto";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ask, openWorld } from "../served-fixture.ts";
import type { World } from "../served-fixture.ts";
import { frontHtml } from "./front.ts";

const BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
let world: World;
beforeEach(async () => void (world = await openWorld()));
afterEach(() => world.close());

const front = (accept: string) => ask(`${world.url}/`, { headers: { accept } });

test("a browser gets a page without broken links", async () => {
  const page = await front(BROWSER);
  expect(page.status).toBe(200);
  expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
  expect(page.headers.get("vary")).toContain("accept");
  expect(page.text).toContain("This is a Waybill hub");
  const links = [...page.text.matchAll(/href="(http:[^"]+)"/g)].map(([, link]) => link!);
  expect(links.map((link) => new URL(link).pathname)).toEqual([
    "/console",
    "/skill.md",
    "/openapi.json",
    "/.well-known/waybill",
    "/healthz",
    "/readyz",
  ]);
  for (const link of links) expect((await ask(link)).status).toBe(200);
});

test("the page's policy forbids loading, scripts and frames, and allows its own style by digest", async () => {
  const page = await front(BROWSER);
  const style = /<style>([^<]*)<\/style>/.exec(page.text)![1]!;
  const digest = createHash("sha256").update(style).digest("base64");
  expect(page.headers.get("content-security-policy")).toBe(
    `default-src 'none'; style-src 'sha256-${digest}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  );
  expect(page.headers.get("x-content-type-options")).toBe("nosniff");
  expect(page.text).not.toMatch(/<script|style=|\son\w+=/i);
});

test.each([
  ["application/json", "application/json"],
  ["*/*", "text/plain; charset=utf-8"],
])("a program that accepts %s gets %s", async (accept, type) => {
  const answer = await front(accept);
  expect(answer.status).toBe(200);
  expect(answer.headers.get("content-type")).toContain(type);
  expect(answer.text).toContain(`${world.url}/skill.md`);
  if (type === "application/json") expect(answer.json).toMatchObject({ hub: world.hub.id });
});

test("names on the page are escaped", () => {
  const page = frontHtml({
    url: `https://hub.example/"><script>alert(1)</script>`,
    hub: "<b>hub</b>",
    domain: "&'",
  });
  expect(page).not.toContain("<script>");
  expect(page).not.toContain("<b>");
  expect(page).toContain("&amp;&#39;");
});
