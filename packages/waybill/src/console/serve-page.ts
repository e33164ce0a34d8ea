/// <reference types="node" />
import { createServer } from "node:http";
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { consolePage } from "@waybill/console";
import { hostOf, hubFetch } from "../hub/hub-fetch.ts";

/** A console that is served from this machine. */
export interface LocalPage {
  readonly url: string;
  close(): Promise<void>;
}

const LOOPBACK = "127.0.0.1";
const PAGE = /^\/console(?:\/([\w.-]+))?(?:\?|$)/;
/** What the page asks of the hub; anything else is not passed on. */
const ASKED = /^\/(?:v1\/|\.well-known\/waybill(?:\/|\?|$)|metrics$)/;
const PASSED_ON = ["accept", "authorization", "content-type"] as const;
const PASSED_BACK = ["content-type", "retry-after"] as const;

/**
 * Serves the page on loopback and passes its requests on to the hub. The page signs each of them, so
 * this server can do nothing on its own.
 */
export async function servePage(hub: string): Promise<LocalPage> {
  let host = "";
  const server = createServer((request, response) => {
    answer(request, response, { hub, host }).catch(() => {
      // The hub or the browser is gone in the middle of an answer.
      if (response.headersSent) response.destroy();
      else problem(response, 503, "The hub does not answer.");
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, LOOPBACK, resolve);
  });
  host = `${LOOPBACK}:${(server.address() as AddressInfo).port}`;
  return {
    url: `http://${host}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface Between {
  readonly hub: string;
  readonly host: string;
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { hub, host }: Between,
): Promise<void> {
  const { headers, method = "GET", url = "/" } = request;
  // Against DNS rebinding, and requests of other pages.
  const { origin } = headers;
  if (headers.host !== host || (origin !== undefined && origin !== `http://${host}`)) {
    return problem(response, 403, "This page is for this machine only.");
  }
  const page = PAGE.exec(url);
  if (page !== null) return sendFile(response, page[1] ?? "index.html");
  if (url === "/") return void response.writeHead(302, { location: "/console" }).end();
  if (url === "/v1/console/host") {
    return sendJson(response, 200, { host: hostOf(hub) });
  }
  if (!ASKED.test(url)) return problem(response, 404, "Nothing is here. Open /console.");
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  const answered = await hubFetch(hub)(url, {
    method,
    headers: PASSED_ON.flatMap((name): [string, string][] =>
      headers[name] === undefined ? [] : [[name, headers[name]]],
    ),
    signal: gone.signal,
    ...(method !== "GET" && { body: Readable.toWeb(request) as ReadableStream, duplex: "half" }),
  });
  const given: OutgoingHttpHeaders = { "cache-control": "no-store" };
  for (const name of PASSED_BACK) given[name] = answered.headers.get(name) ?? undefined;
  response.writeHead(answered.status, definedOf(given));
  response.flushHeaders();
  if (answered.body === null) return void response.end();
  await pipeline(Readable.fromWeb(answered.body as never), response);
}

function definedOf(headers: OutgoingHttpHeaders): OutgoingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined));
}

async function sendFile(response: ServerResponse, name: string): Promise<void> {
  const { files, headers } = await consolePage();
  const file = files.get(name);
  if (file === undefined) return problem(response, 404, `The console has no file ${name}.`);
  response
    .writeHead(200, { ...headers, "content-type": file.type, "cache-control": "no-cache" })
    .end(file.bytes);
}

function problem(response: ServerResponse, status: number, detail: string): void {
  sendJson(response, status, { status, detail });
}

function sendJson(response: ServerResponse, status: number, value: unknown): void {
  response
    .writeHead(status, { "content-type": "application/json", "cache-control": "no-store" })
    .end(JSON.stringify(value));
}
