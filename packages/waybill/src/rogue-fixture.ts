/// <reference types="node" />
import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage } from "node:http";
import { connect, createServer as createTcpServer } from "node:net";
import type { AddressInfo, Server, Socket } from "node:net";

/** A server that poses as a hub, and everything that was sent to it. */
export interface Rogue {
  readonly url: string;
  /** All bytes, in the order of arrival. */
  readonly heard: () => string;
  close(): Promise<void>;
}

/** Repeats the real hub's public answers, and says yes to everything else. */
export async function impostor(real: string): Promise<Rogue> {
  const pages = new Map<string, string>();
  const page = async (path: string): Promise<string> => {
    const known = pages.get(path);
    if (known !== undefined) return known;
    const text = await (await fetch(real + path)).text();
    pages.set(path, text);
    return text;
  };
  return rogue(async (request) => {
    const path = request.url!;
    const isPublic = path.startsWith("/.well-known/") || path === "/readyz";
    const body = isPublic ? (await page(path)).replaceAll(real, self(request)) : "{}";
    return { status: 200, headers: { "content-type": "application/json" }, body };
  });
}

/** Redirects every request to another server. */
export function redirector(to: string): Promise<Rogue> {
  return rogue(async ({ url }) => {
    return { status: 307, headers: { location: to + url! }, body: "" };
  });
}

/** Forwards every byte to the real hub and back, immediately. */
export async function relay(real: string): Promise<Rogue> {
  const { hostname, port } = new URL(real);
  const heard: Buffer[] = [];
  const open = new Set<Socket>();
  const server = createTcpServer((near) => {
    const far = connect(Number(port), hostname);
    for (const socket of [near, far]) {
      open.add(socket);
      socket.on("error", () => undefined).on("close", () => open.delete(socket));
    }
    near.on("data", (piece: Buffer) => heard.push(piece));
    near.pipe(far).pipe(near);
  });
  return listening(server, heard, () => {
    for (const socket of open) socket.destroy();
  });
}

interface Said {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string;
}

async function rogue(say: (request: IncomingMessage) => Promise<Said>): Promise<Rogue> {
  const heard: Buffer[] = [];
  const server = createServer((request, response) => {
    request.resume();
    void say(request).then(({ status, headers, body }) =>
      response.writeHead(status, headers).end(body),
    );
  });
  server.on("connection", (socket: Socket) => {
    // Before the parser: headers, bodies and everything else.
    socket.on("data", (piece: Buffer) => heard.push(piece));
  });
  server.on("upgrade", (request, socket) => {
    heard.push(Buffer.from(JSON.stringify([request.url, request.headers])));
    socket.destroy();
  });
  return listening(server, heard, () => server.closeAllConnections());
}

async function listening(server: Server, heard: Buffer[], cut: () => void): Promise<Rogue> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    heard: () => Buffer.concat(heard).toString("latin1"),
    async close() {
      cut();
      server.close();
      await once(server, "close");
    },
  };
}

function self(request: IncomingMessage): string {
  return `http://${request.headers.host}`;
}
