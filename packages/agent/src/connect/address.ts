import { WaybillError } from "@waybill/protocol";

/** Where a hub is reached. All of it lies below the address that was given, which is known to lead there. */
export interface Address {
  readonly url: string;
  readonly socket: string;
  path(path: string): string;
}

const SOCKET_PROTOCOL: Readonly<Record<string, string>> = { "http:": "ws:", "https:": "wss:" };

export function addressOf(given: string): Address {
  const url = URL.parse(given);
  const protocol = url === null ? undefined : SOCKET_PROTOCOL[url.protocol];
  if (url === null || protocol === undefined || url.username !== "" || url.search !== "") {
    throw new WaybillError(
      400,
      `"${given}" is not the address of a hub; one looks like http://127.0.0.1:7411 or https://hub.example.`,
    );
  }
  const base = url.href.replace(/\/*(#.*)?$/, "");
  const socket = protocol + base.slice(url.protocol.length);
  return { url: base, socket: `${socket}/v1/socket`, path: (path) => `${base}${path}` };
}
