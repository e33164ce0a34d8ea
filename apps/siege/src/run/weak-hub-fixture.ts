/// <reference types="node" />
// Loaded into the hub's process: plants weaknesses that a siege must find.
import { Server } from "node:http";
import type { IncomingMessage } from "node:http";

const held: Buffer[] = [];
const PLANTED: Readonly<Record<string, () => void>> = {
  "/planted/freeze": () => {
    for (const until = Date.now() + 2_000; Date.now() < until;);
  },
  "/planted/memory": () => void held.push(Buffer.alloc(600 * 1024 * 1024, 1)),
  "/planted/crash": () => process.abort(),
};

const emit: (this: Server, event: string, ...given: unknown[]) => boolean = Server.prototype.emit;
Server.prototype.emit = function (this: Server, event: string, ...given: unknown[]): boolean {
  if (event === "request") PLANTED[(given[0] as IncomingMessage).url ?? ""]?.();
  return emit.call(this, event, ...given);
};
