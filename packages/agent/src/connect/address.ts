import { WaybillError } from "@waybill/protocol";

/** The address of a hub. Requests go only to paths below it, which it is known to serve. */
export interface Address {
  readonly url: string;
  readonly socket: string;
  path(path: string): string;
}

const SOCKET_PROTOCOL: Readonly<Record<string, string>> = { "http:": "ws:", "https:": "wss:" };

export function addressOf(given: string): Address {
  const url = URL.parse(given);
  const protocol = url === null ? undefined : SOCKET_PROTOCOL[url.protocol];
  if (url === null || protocol === undefined || hasMore(url)) {
    throw new WaybillError(
      400,
      `${shown(given, url)} is not the address of a hub: it must start with http:// or https:// and have no user, password or query, for example ${JSON.stringify(addressLike(given, url))}.`,
      { at: "/url" },
    );
  }
  const base = url.href.replace(/\/*(#.*)?$/, "");
  const socket = protocol + base.slice(url.protocol.length);
  return { url: base, socket: `${socket}/v1/socket`, path: (path) => `${base}${path}` };
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
