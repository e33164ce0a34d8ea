/// <reference types="node" />
import { WaybillError } from "@waybill/protocol";

/** The address of a hub. Requests go only to paths below it, which it is known to serve. */
export interface Address {
  readonly url: string;
  /** The URL of its WebSocket. */
  readonly socket: string;
  /** The Unix socket to connect to. The host of the URLs is only a name then. */
  readonly socketPath?: string | undefined;
  /** The URL of a path. */
  path(path: string): string;
}

const SOCKET_PROTOCOL: Readonly<Record<string, string>> = { "http:": "ws:", "https:": "wss:" };

export function addressOf(given: string): Address {
  if (isUnixAddress(given)) return unixAddress(given);
  const url = URL.parse(given);
  const protocol = url === null ? undefined : SOCKET_PROTOCOL[url.protocol];
  if (url === null || protocol === undefined || hasMore(url)) {
    throw new WaybillError(
      400,
      `${shown(given, url)} is not the address of a hub: it must start with http://, https:// or unix: and have no user, password or query, for example ${JSON.stringify(addressLike(given, url))}.`,
      { at: "/url" },
    );
  }
  const base = url.href.replace(/\/*(#.*)?$/, "");
  const socket = protocol + base.slice(url.protocol.length);
  return { url: base, socket: `${socket}/v1/socket`, path: (path) => `${base}${path}` };
}

/** What node:http sends as the Host, and what every hub is called on its own machine. */
const NAME = "localhost";

function isUnixAddress(given: unknown): given is string {
  return typeof given === "string" && /^unix:/i.test(given);
}

/** `unix:/path`, as nginx and gRPC have it; `unix:///path` is the same. Everything behind is the path. */
function unixAddress(given: string): Address {
  const socketPath = given.slice("unix:".length).replace(/^\/\/(?=\/)/, "");
  const isHere = process.platform !== "win32";
  if (!isHere || !/^\/[^\0]*[^\0/]$/.test(socketPath)) {
    throw new WaybillError(
      400,
      isHere
        ? `${JSON.stringify(given)} is not the address of a hub: behind unix: is the absolute path of its socket, for example "unix:/srv/waybill/hub.sock".`
        : `${JSON.stringify(given)} is a Unix socket, and hubs have none on Windows: use the hub's URL.`,
      { at: "/url" },
    );
  }
  return {
    url: `unix:${socketPath}`,
    socket: `ws://${NAME}/v1/socket`,
    socketPath,
    path: (path) => `http://${NAME}${path}`,
  };
}

function hasMore({ username, password, search }: URL): boolean {
  return username !== "" || password !== "" || search !== "";
}

/** A password in an address is not repeated in a message that may end up in a log. */
function shown(given: unknown, url: URL | null): string {
  if (typeof given !== "string") return String(given);
  return url?.password ? "What was given, with a password in it," : JSON.stringify(given);
}

const HTTP_FOR: Readonly<Record<string, string>> = { "ws:": "http:", "wss:": "https:" };

/** The address that was probably meant. */
function addressLike(given: unknown, url: URL | null): string {
  const text = String(given);
  if (url !== null && SOCKET_PROTOCOL[url.protocol] !== undefined) {
    return `${url.protocol}//${url.host}${url.pathname.replace(/\/$/, "")}`;
  }
  const [, scheme = ""] = /^([a-z]+:)\/\//i.exec(text) ?? [];
  const instead = HTTP_FOR[scheme.toLowerCase()];
  if (instead !== undefined) return instead + text.slice(scheme.length);
  const isHost = /^[a-z0-9.-]+(?::\d+)?(?:\/\S*)?$/i.test(text) && typeof given === "string";
  if (!isHost) return "http://127.0.0.1:7411";
  const isHere = /^(?:localhost|127\.|\d+\.\d+\.)/.test(text);
  return `${isHere ? "http" : "https"}://${text}`;
}
