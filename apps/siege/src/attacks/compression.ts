/// <reference types="node" />
import { brotliCompressSync, gzipSync } from "node:zlib";
import type { AttackClass } from "../attack-class.ts";
import { RawWebSocket } from "../toolkit/web-socket.ts";

const BOMB_BYTES = 64 * 1024 * 1024;

export const compression: AttackClass = {
  name: "compression",
  does: "bodies of 64 MB in a few kilobytes of gzip and brotli, and sockets that offer compression",
  lands: ["body 400", "socket"],
  async run(attacker) {
    const zeros = Buffer.alloc(BOMB_BYTES, "[");
    const bodies = { gzip: gzipSync(zeros), br: brotliCompressSync(zeros.subarray(0, 2 ** 20)) };
    const { host, port } = attacker.place;
    await attacker.crowd(8, async (lane) => {
      if (lane === 0) {
        const extension = "permessage-deflate; client_max_window_bits";
        const headers = { "Sec-WebSocket-Extensions": extension };
        const web = await RawWebSocket.open(attacker, { headers });
        attacker.count("socket");
        // The first reserved bit marks a compressed message.
        web.frame(1, bodies.gzip, { reserved: 4 });
        return web.closed;
      }
      const encoding = lane % 2 === 0 ? "gzip" : "br";
      const body = bodies[encoding];
      const socket = await attacker.open();
      const head = [
        "POST /v1/envelopes HTTP/1.1",
        `Host: ${host}:${port}`,
        "Content-Type: application/json",
        `Content-Encoding: ${encoding}`,
        `Content-Length: ${body.length}`,
      ];
      const answered = new Promise<void>((resolve) => {
        socket.once("data", (data: Buffer) => {
          attacker.count(`body ${data.toString("latin1").slice(9, 12)}`);
          resolve();
        });
        socket.once("close", () => resolve());
      });
      socket.write(`${head.join("\r\n")}\r\n\r\n`);
      socket.write(body);
      await answered;
      socket.resetAndDestroy();
    });
  },
};
