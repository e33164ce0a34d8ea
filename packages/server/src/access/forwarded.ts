/// <reference types="node" />
import type { IncomingHttpHeaders } from "node:http";

/** The headers that proxies add to a request. */
const FORWARDED = [
  "forwarded",
  "via",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-proto",
  "x-real-ip",
] as const;

/** A client that asks through a proxy on this machine need not be on this machine. */
export function isForwarded(headers: IncomingHttpHeaders): boolean {
  return FORWARDED.some((name) => headers[name] !== undefined);
}
