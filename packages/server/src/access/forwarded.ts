/// <reference types="node" />
import type { IncomingHttpHeaders } from "node:http";

/** What proxies write into a request that they pass on. */
const FORWARDED = [
  "forwarded",
  "via",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-proto",
  "x-real-ip",
] as const;

/** Whoever asks through a proxy on this machine need not be on this machine. */
export function isForwarded(headers: IncomingHttpHeaders): boolean {
  return FORWARDED.some((name) => headers[name] !== undefined);
}
