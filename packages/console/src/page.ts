/// <reference types="node" />
import { readdir, readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { pageFolder } from "#page";

/** One file of the page. */
export interface PageFile {
  readonly type: string;
  readonly bytes: Uint8Array;
  /** The same bytes, compressed with gzip. */
  readonly compressed: Uint8Array;
  /** Its name changes with its content. */
  readonly isImmutable: boolean;
}

/** The files of the console, and the headers with which they have to be served. */
export interface ConsolePage {
  readonly files: ReadonlyMap<string, PageFile>;
  readonly headers: Readonly<Record<string, string>>;
}

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** The page loads its own files, asks the hub that serves it, and nothing else. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' blob:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

const HEADERS: ConsolePage["headers"] = {
  "content-security-policy": POLICY,
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=()",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
};

const compress = promisify(gzip);
let page: Promise<ConsolePage> | undefined;

/** The page, read once. In a checkout it is built first if its sources have changed. */
export function consolePage(): Promise<ConsolePage> {
  page ??= readPage().catch((error: unknown) => {
    page = undefined;
    throw error;
  });
  return page;
}

async function readPage(): Promise<ConsolePage> {
  const folder = await pageFolder();
  const files = await Promise.all(
    (await readdir(folder)).map(async (name): Promise<[string, PageFile]> => {
      const bytes = await readFile(join(folder, name));
      const type = TYPES[extname(name)] ?? "application/octet-stream";
      const compressed = await compress(bytes, { level: 9 });
      return [name, { type, bytes, compressed, isImmutable: extname(name) !== ".html" }];
    }),
  );
  return { files: new Map(files), headers: HEADERS };
}
