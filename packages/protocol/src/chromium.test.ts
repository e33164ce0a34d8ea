/// <reference types="node" />
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { stripTypeScriptTypes } from "node:module";
import type { AddressInfo } from "node:net";
import { chromium } from "playwright-core";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as ed25519 from "./ed25519.ts";
import * as protocol from "./index.ts";

// The sources are served with their types blanked, and the browser resolves everything else by
// package.json, so that the test checks what an application's page would load.
const PACKAGE = new URL("../", import.meta.url);
const CHROMIUM = [process.env.CHROMIUM_PATH, "/usr/bin/chromium"].find(
  (path) => path !== undefined && existsSync(path),
);
const MISSING = "no Chromium: install it, or name it in CHROMIUM_PATH";
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

interface Manifest {
  imports: Record<string, { default: string }>;
  dependencies: Record<string, string>;
  module?: string;
  exports?: Record<string, unknown>;
}

/** The exports on `window` once the page has loaded the package. */
interface Loaded {
  protocol: typeof protocol;
  ed25519: typeof ed25519;
}

async function readManifest(folder: string): Promise<Manifest> {
  return JSON.parse(await readFile(new URL(`${folder}package.json`, PACKAGE), "utf8")) as Manifest;
}

async function startPage(): Promise<string> {
  const { imports, dependencies } = await readManifest("");
  const map: Record<string, string> = {};
  for (const [name, conditions] of Object.entries(imports)) {
    map[name] = new URL(conditions.default, "file:///").pathname;
  }
  for (const name of Object.keys(dependencies)) {
    const folder = `node_modules/${name}/`;
    const { module, exports } = await readManifest(folder);
    // A package of the workspace exports its sources.
    const main = module ?? exports?.["."];
    map[`${name}/`] = `/${folder}`;
    if (typeof main === "string") map[name] = new URL(main, `file:///${folder}`).pathname;
  }
  return `<!doctype html><script type="importmap">${JSON.stringify({ imports: map })}</script>`;
}

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = request.url ?? "/";
  if (path === "/") {
    response.setHeader("content-type", "text/html").end(await startPage());
    return;
  }
  const source = await readFile(new URL(`.${path}`, PACKAGE), "utf8").catch(() => undefined);
  if (source === undefined) {
    response.writeHead(404).end();
    return;
  }
  response.setHeader("content-type", "text/javascript");
  response.end(path.endsWith(".ts") ? stripTypeScriptTypes(source) : source);
}

// Set in the CI, where every optional dependency is installed: a missing one fails the tests instead
// of skipping them.
if (CHROMIUM === undefined && process.env.WAYBILL_PEERS === "required") {
  test("a browser", () => expect.fail(MISSING));
}

describe.skipIf(CHROMIUM === undefined)(
  CHROMIUM === undefined ? `Chromium (skipped: ${MISSING})` : "Chromium",
  () => {
    let server: Server;
    let browser: Browser;
    let page: Page;

    beforeAll(async () => {
      server = createServer((request, response) => void serve(request, response));
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      // Playwright gives each browser that it starts an empty profile of its own.
      browser = await chromium.launch({ executablePath: CHROMIUM!, headless: true, args: FLAGS });
      page = await browser.newPage();
      await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
      // A string, because a test runner may rewrite an import inside a function first.
      await page.evaluate(`Promise.all([import("/src/index.ts"), import("/src/ed25519.ts")])
        .then(([protocol, ed25519]) => Object.assign(globalThis, { protocol, ed25519 }))
        .then(() => undefined)`);
    }, 60_000);

    afterAll(async () => {
      await browser?.close();
      server?.close();
    });

    test("loads the whole package without any module of Node", async () => {
      const found = await page.evaluate(() => {
        const { protocol: here } = globalThis as unknown as Loaded;
        return {
          names: Object.keys(here),
          hasProcess: "process" in globalThis,
          isError: here.WaybillError.is(new here.WaybillError(401, "no"), 401),
        };
      });
      expect(found.hasProcess).toBe(false);
      expect(found.isError).toBe(true);
      expect(found.names.toSorted()).toEqual(Object.keys(protocol).toSorted());
    });

    test("signs, verifies, refuses tampered envelopes, and agrees with Node", async () => {
      const key = globalThis.crypto.getRandomValues(new Uint8Array(32));
      const message = new TextEncoder().encode("signed under Node");
      const nodes = {
        publicKey: [...ed25519.publicKeyOf(key)],
        message: [...message],
        signature: [...ed25519.sign(message, key)],
      };
      const there = await page.evaluate((signedByNode) => {
        const { ed25519: ed } = globalThis as unknown as Loaded;
        const [signature, text, publicKey] = [
          Uint8Array.from(signedByNode.signature),
          Uint8Array.from(signedByNode.message),
          Uint8Array.from(signedByNode.publicKey),
        ];
        const ownKey = globalThis.crypto.getRandomValues(new Uint8Array(32));
        const ownPublicKey = ed.publicKeyOf(ownKey);
        const ownMessage = new TextEncoder().encode("signed in a browser");
        const ownSignature = ed.sign(ownMessage, ownKey);
        const tampered = ownMessage.with(0, ownMessage[0]! ^ 1);
        return {
          publicKey: [...ownPublicKey],
          message: [...ownMessage],
          signature: [...ownSignature],
          verdicts: {
            own: ed.verify(ownSignature, ownMessage, ownPublicKey),
            ownTampered: ed.verify(ownSignature, tampered, ownPublicKey),
            ownUnderOtherKey: ed.verify(ownSignature, ownMessage, publicKey),
            nodes: ed.verify(signature, text, publicKey),
            nodesTampered: ed.verify(signature.with(63, 0x10), text, publicKey),
            nodesKey: ed.checkPublicKey(publicKey),
            smallOrderKey: ed.checkPublicKey(new Uint8Array(32)),
          },
        };
      }, nodes);

      expect(there.verdicts).toEqual({
        own: true,
        ownTampered: false,
        ownUnderOtherKey: false,
        nodes: true,
        nodesTampered: false,
        nodesKey: true,
        smallOrderKey: false,
      });
      const [signature, text, publicKey] = [
        Uint8Array.from(there.signature),
        Uint8Array.from(there.message),
        Uint8Array.from(there.publicKey),
      ];
      expect(ed25519.checkPublicKey(publicKey)).toBe(true);
      expect(ed25519.verify(signature, text, publicKey)).toBe(true);
      expect(ed25519.verify(signature, text.with(0, 0), publicKey)).toBe(false);
    });

    test("makes an envelope that Node verifies, and reads a batch that Node signed", async () => {
      const key = protocol.generateKey();
      const handoff = protocol.createHandoff({
        from: "editor",
        domain: key.kid,
        to: "researcher",
        timeoutMs: 60_000,
        body: { capability: "web_research", input: { query: "\u{1f9fe} é" } },
      });
      const batch = protocol
        .signEnvelopes([handoff, handoff, handoff], key)
        .map(({ text }) => text);
      const there = await page.evaluate(
        ({ texts, jwk, at }) => {
          const { protocol: here } = globalThis as unknown as Loaded;
          const record = {
            agent: "editor",
            key: here.publicKeyFrom(jwk),
            notBefore: 0,
            notAfter: Infinity,
          };
          const read = (text: string) => here.verifyEnvelope(text, { keyOf: () => record, at });
          const statusOf = (text: string) => {
            try {
              return read(text).envelope.kind;
            } catch (error) {
              return here.WaybillError.from(error).status;
            }
          };
          const own = here.generateKey();
          // In the middle of the signature: a changed last character might not even be base64url.
          const at60 = texts[0]!.lastIndexOf(".") + 60;
          const other = texts[0]![at60] === "A" ? "B" : "A";
          const tampered = texts[0]!.slice(0, at60) + other + texts[0]!.slice(at60 + 1);
          const { envelope } = read(texts[0]!);
          return {
            envelope,
            kinds: texts.map(statusOf),
            tampered: statusOf(tampered),
            jwk: own.jwk,
            text: here.signEnvelope(envelope, own),
          };
        },
        { texts: batch, jwk: { ...key.jwk }, at: Date.now() },
      );
      expect(there.kinds).toEqual(["handoff", "handoff", "handoff"]);
      expect(there.tampered).toBe(401);
      expect(there.envelope).toEqual(JSON.parse(JSON.stringify(handoff)));
      const record = {
        agent: "editor",
        key: protocol.publicKeyFrom(there.jwk),
        notBefore: 0,
        notAfter: Infinity,
      };
      const verified = protocol.verifyEnvelope(there.text, { keyOf: () => record, at: Date.now() });
      expect(verified.envelope).toEqual(there.envelope);
    });
  },
);
