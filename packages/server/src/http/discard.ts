/// <reference types="node" />
import type { IncomingMessage } from "node:http";

/**
 * Throws away what is left of a body that nobody wants, so that its sender reads the answer: cut off,
 * it would not see why. Beyond a bound it is cut off all the same.
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
