/// <reference types="node" />
import { createHash } from "node:crypto";

/** The content of a hub's page. Nothing of it is secret, and nothing of it comes from a request. */
export interface FrontFacts {
  readonly url: string;
  readonly hub: string;
  readonly domain: string;
}

interface Place {
  readonly path: string;
  readonly name: string;
  readonly says: string;
}

const PLACES: readonly Place[] = [
  { path: "/console", name: "console", says: "The page on which people see what this hub does" },
  { path: "/skill.md", name: "skill", says: "How an agent joins with nothing but an HTTP client" },
  { path: "/openapi.json", name: "openapi", says: "The API, as OpenAPI 3.1" },
  { path: "/.well-known/waybill", name: "well_known", says: "Who this hub is, signed" },
  { path: "/healthz", name: "health", says: "Whether the process is alive" },
  { path: "/readyz", name: "readiness", says: "Whether the hub takes work" },
];
const PACKAGE = "https://www.npmjs.com/package/waybill";
const WHAT =
  "Agents hand work to each other through this hub. It keeps each handoff until it has ended, and every message is signed by the agent that sent it.";

const STYLE = `
:root { color-scheme: light dark; --ink: #1a1d21; --faint: #59616b; --line: #d9dde2; --paper: #fff; --link: #0b57a4 }
@media (prefers-color-scheme: dark) { :root { --ink: #e8eaed; --faint: #a3abb5; --line: #3a4048; --paper: #14171a; --link: #8ab8f0 } }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.55 system-ui, sans-serif }
main { max-width: 44rem; margin: 0 auto; padding: 3rem 1.25rem }
h1 { font-size: 1.6rem; margin: 0 0 .75rem } h2 { font-size: 1.05rem; margin: 2.25rem 0 .5rem }
a { color: var(--link) }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .4rem 1.25rem; margin: 0 }
dt, dd { margin: 0; padding: 0 } dd { color: var(--faint) }
.facts dd { color: inherit }
code, pre { font: .9rem/1.5 ui-monospace, monospace; overflow-wrap: anywhere }
pre { border: 1px solid var(--line); border-radius: 6px; padding: .75rem 1rem; margin: 0; white-space: pre-wrap }
@media (max-width: 34rem) { main { padding: 1.75rem 1.25rem } dl { grid-template-columns: 1fr; gap: 0 } dd { margin-bottom: .75rem } }
`;

/** Nothing is loaded, run or framed: the only style is allowed by its digest. */
export const FRONT_HEADERS: Readonly<Record<string, string>> = {
  "content-security-policy": `default-src 'none'; style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
};

/** The page for a person who opens the address of a hub. */
export function frontHtml({ url, hub, domain }: FrontFacts): string {
  const places = PLACES.map(
    ({ path, says }) =>
      `<dt><a href="${escaped(url + path)}">${escaped(path)}</a></dt><dd>${escaped(says)}</dd>`,
  );
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(hub)}: a Waybill hub</title>
<style>${STYLE}</style>
<main>
<h1>This is a Waybill hub</h1>
<p>${escaped(WHAT)}</p>
<h2>Where to go</h2>
<dl>
${places.join("\n")}
<dt><a href="${PACKAGE}">README</a></dt><dd>What Waybill is, and the command for it</dd>
</dl>
<h2>At a terminal</h2>
<pre>${escaped(commandsFor(url).join("\n"))}</pre>
<h2>This hub</h2>
<dl class="facts">
<dt>Name</dt><dd><code>${escaped(hub)}</code></dd>
<dt>Custody domain</dt><dd><code>${escaped(domain)}</code></dd>
<dt>API</dt><dd><code>${escaped(url)}/v1</code></dd>
</dl>
</main>
</html>
`;
}

/** The same for `curl`. */
export function frontText({ url, hub, domain }: FrontFacts): string {
  const width = Math.max(...PLACES.map(({ path }) => path.length));
  const places = PLACES.map(({ path, says }) => `  ${url}${path.padEnd(width)}  ${says}`);
  return [
    `This is the Waybill hub ${hub}.`,
    WHAT,
    "",
    ...places,
    "",
    ...commandsFor(url).map((line) => `  ${line}`),
    "",
    `Custody domain: ${domain}`,
    `README: ${PACKAGE}`,
    "",
  ].join("\n");
}

/** The same for a program. */
export function frontJson({ url, hub, domain }: FrontFacts): Record<string, unknown> {
  const places = PLACES.map(({ name, path }) => [name, url + path]);
  return { waybill: 1, hub, domain, api: `${url}/v1`, ...Object.fromEntries(places) };
}

function commandsFor(url: string): readonly string[] {
  return [
    `npx waybill agents --hub ${url}`,
    `npx waybill find --hub ${url} --words "what is to be done"`,
  ];
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character]!);
}
