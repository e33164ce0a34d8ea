/// <reference types="node" />
import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

const WATCH = "/v1/watch";

/**
 * A hub in all but what happens: requests go on to a real one, and the stream of new entries is
 * written here, at an exact rate.
 */
export class StandIn {
  readonly #server: Server;
  #watcher: ServerResponse | undefined;
  #watched: () => void = () => undefined;
  /** Where the real hub is. */
  hub = "";

  private constructor() {
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch(() => response.destroy());
    });
  }

  static async open(): Promise<StandIn> {
    const made = new StandIn();
    await new Promise<void>((resolve) => made.#server.listen(0, "127.0.0.1", resolve));
    return made;
  }

  get host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Settles when a page follows the stream. */
  watched(): Promise<void> {
    if (this.#watcher !== undefined) return Promise.resolve();
    return new Promise((resolve) => (this.#watched = resolve));
  }

  /** Sends lines to the page; settles when the connection has room for more. */
  async send(lines: string): Promise<void> {
    const watcher = this.#watcher!;
    if (watcher.write(lines)) return;
    await new Promise<void>((resolve) => watcher.once("drain", resolve));
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { url = "/", method = "GET", headers } = request;
    if (url.startsWith(WATCH)) {
      response.writeHead(200, { "content-type": "application/x-ndjson" });
      response.flushHeaders();
      this.#watcher = response;
      response.once("close", () => {
        if (this.#watcher === response) this.#watcher = undefined;
      });
      return this.#watched();
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const passed = ["authorization", "accept", "content-type"].flatMap((name) => {
      const value = headers[name];
      return typeof value === "string" ? [[name, value] as [string, string]] : [];
    });
    const answered = await fetch(this.hub + url, {
      method,
      headers: passed,
      ...(method !== "GET" && { body: Buffer.concat(chunks) }),
    });
    const kept = [...answered.headers].filter(([name]) => !DROPPED.has(name));
    response.writeHead(answered.status, Object.fromEntries(kept));
    response.end(Buffer.from(await answered.arrayBuffer()));
  }
}

/** They belong to the connection, and `fetch` has uncompressed the body. */
const DROPPED: ReadonlySet<string> = new Set([
  "connection",
  "content-encoding",
  "content-length",
  "keep-alive",
  "transfer-encoding",
]);
