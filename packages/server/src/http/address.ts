/// <reference types="node" />
import type { IncomingMessage } from "node:http";
import { isIPv4, isIPv6 } from "node:net";

/**
 * The address of every client on the Unix socket. They run as one user, and share what one address
 * may use. What is called `unix:` is never the host of a URL.
 */
export const UNIX_ADDRESS = "unix:";

/** How the connection of a request came. */
interface Origin {
  readonly transport: Transport;
  /** A proxy's: clients share it. */
  readonly isProxied: boolean;
}

export type Transport = "tcp" | "tls" | "unix";

/**
 * The address of the client. Behind a proxy it is the last one that the proxy wrote; the ones before
 * it can be forged.
 */
export function addressOf(request: IncomingMessage, { transport, isProxied }: Origin): string {
  if (transport === "unix") return UNIX_ADDRESS;
  const direct = networkOf(request.socket.remoteAddress ?? "");
  if (!isProxied) return direct;
  const forwarded = request.headers["x-forwarded-for"];
  const all = Array.isArray(forwarded) ? forwarded.join(",") : (forwarded ?? "");
  const last = all.split(",").at(-1)!.trim();
  return networkOf(last) || networkOf(/^\[?(.*?)\]?:\d+$/.exec(last)?.[1] ?? "") || direct;
}

/**
 * The unit that counts as one address: in IPv4 the address, in IPv6 the network of 64 bits, because
 * every customer has at least one. Empty if it is no address.
 */
export function networkOf(address: string): string {
  const [plain = ""] = address.split("%");
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(plain)?.[1];
  if (mapped !== undefined) return mapped;
  if (isIPv4(plain)) return plain;
  return isIPv6(plain) ? networkOf6(plain) : "";
}

const GROUPS = 8;
const GROUPS_OF_NETWORK = 4;

function networkOf6(address: string): string {
  const [head = "", tail] = address.split("::");
  const before = groupsOf(head);
  const after = tail === undefined ? [] : groupsOf(tail);
  const zeros = Array.from({ length: GROUPS - before.length - after.length }, () => "0");
  const groups = [...before, ...zeros, ...after];
  return `${groups.slice(0, GROUPS_OF_NETWORK).join(":")}::/64`;
}

function groupsOf(text: string): string[] {
  if (text === "") return [];
  return text.split(":").flatMap((group) => {
    // The last 32 bits may be written as an IPv4 address.
    if (group.includes(".")) return ["0", "0"];
    return [Number.parseInt(group, 16).toString(16)];
  });
}
