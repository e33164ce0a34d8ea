/// <reference types="node" />
import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";

/** A port on which nobody listens. */
export async function freePort(host: string): Promise<number> {
  const server = createServer().listen(0, host);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}
