/// <reference types="node" />
import type { IncomingMessage } from "node:http";

/** Who asks. Behind a proxy that is what the proxy wrote last; what stands before it anybody may write. */
export function addressOf(request: IncomingMessage, isBehindProxy: boolean): string {
  const direct = request.socket.remoteAddress ?? "";
  if (!isBehindProxy) return direct;
  const forwarded = request.headers["x-forwarded-for"];
  const all = Array.isArray(forwarded) ? forwarded.join(",") : (forwarded ?? "");
  return all.split(",").at(-1)?.trim() || direct;
}
