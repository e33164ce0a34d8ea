/// <reference types="node" />
import { once } from "node:events";
import { request } from "node:http";
import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ReadableStream } from "node:stream/web";

/** A request to a path of one hub. */
export type HubFetch = (path: string, init: RequestInit) => Promise<Response>;

const UNIX = "unix:";
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

/** `fetch` for a hub, which also works over its Unix socket. No redirect is followed: it would lead to another hub. */
export function hubFetch(url: string): HubFetch {
  if (!url.startsWith(UNIX)) {
    return (path, init) => fetch(url + path, { ...init, redirect: "error" });
  }
  return (path, init) => overSocket(url.slice(UNIX.length), path, init);
}

/** What the proof of an operator's request names: the host and port of a URL, or that it is a Unix socket. */
export function hostOf(url: string): string {
  return url.startsWith(UNIX) ? UNIX : new URL(url).host;
}

async function overSocket(
  socketPath: string,
  path: string,
  { method = "GET", headers, body, signal }: RequestInit,
): Promise<Response> {
  const sent = request({
    socketPath,
    path,
    method,
    headers: Object.fromEntries(new Headers(headers)),
    agent: false,
    ...(signal && { signal }),
  });
  const answered = once(sent, "response") as Promise<[IncomingMessage]>;
  if (body instanceof globalThis.ReadableStream) {
    // The answer may come before the end of the body, and an error of the request rejects it too.
    pipeline(Readable.fromWeb(body as ReadableStream), sent).catch(() => undefined);
  } else sent.end(body);
  const [response] = await answered;
  const { statusCode: status = 0, statusMessage: statusText = "" } = response;
  if (status >= 300 && status <= 399) {
    response.destroy();
    throw new TypeError("unexpected redirect");
  }
  const given = Object.entries(response.headersDistinct).flatMap(([name, values = []]) =>
    values.map((value): [string, string] => [name, value]),
  );
  if (WITHOUT_BODY.has(status)) response.resume();
  const content = WITHOUT_BODY.has(status) ? null : (Readable.toWeb(response) as BodyInit);
  return new Response(content, { status, statusText, headers: given });
}
