/// <reference types="node" />
import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Attacker } from "./attacker.ts";

export interface Victim {
  readonly url: string;
  readonly port: number;
  requests(): number;
  connections(): number;
}

/** A server at 127.0.0.9 that the hub may be tricked into calling; it ends with the attack. */
export async function victim(
  attacker: Attacker,
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<Victim> {
  let requests = 0;
  let connections = 0;
  const server = createServer((request, response) => {
    requests++;
    answer(request, response);
  });
  server.on("connection", () => connections++);
  server.on("clientError", (_error, socket) => socket.destroy());
  server.listen(0, "127.0.0.9");
  await once(server, "listening");
  attacker.signal.addEventListener("abort", () => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.9:${port}`,
    port,
    requests: () => requests,
    connections: () => connections,
  };
}
