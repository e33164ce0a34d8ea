/// <reference types="node" />
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Attacker } from "./attacker.ts";
import { RawWebSocket } from "./web-socket.ts";

export interface HubSideOptions {
  readonly host: string;
  readonly port: number;
  readonly answer: (request: IncomingMessage, response: ServerResponse) => void;
  readonly opened: (web: RawWebSocket) => void;
}

/** The GUID of RFC 6455. */
const GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/** The other side of the connection: a server, played by an attack, to which a hub connects. */
export async function listenAsHub(attacker: Attacker, options: HubSideOptions): Promise<void> {
  const server = createServer(options.answer);
  server.on("upgrade", (request: IncomingMessage, socket: Socket) => {
    socket.on("error", () => undefined);
    const key = `${request.headers["sec-websocket-key"]}${GUID}`;
    const accept = createHash("sha1").update(key).digest("base64");
    const lines = [
      "HTTP/1.1 101 Switching Protocols",
      "Connection: Upgrade",
      "Upgrade: websocket",
      `Sec-WebSocket-Accept: ${accept}`,
    ];
    socket.write(`${lines.join("\r\n")}\r\n\r\n`);
    options.opened(new RawWebSocket(socket, false));
  });
  server.listen(options.port, options.host);
  await once(server, "listening");
  attacker.signal.addEventListener("abort", () => {
    server.close();
    server.closeAllConnections();
  });
}
