/// <reference types="node" />
import type { IncomingMessage } from "node:http";

/**
 * Discards the rest of an unwanted body, so that its sender reads the answer: after a reset it would
 * not see the reason. Beyond a limit, the connection is closed anyway.
 */
export function discardRest(request: IncomingMessage, bytesAtMost: number, cut: () => void): void {
  if (request.complete) return;
  let bytes = 0;
  request.on("data", (part: Buffer) => {
    bytes += part.length;
    if (bytes > bytesAtMost) cut();
  });
  request.resume();
}
