import type { AttackClass } from "../attack-class.ts";

const CONNECTIONS = 1_000;
const EACH_MS = 200;

export const slowHeaders: AttackClass = {
  name: "slow-headers",
  does: "1,000 connections send a header line now and then, and never finish a request",
  from: ["elsewhere", "spread"],
  lands: ["line"],
  async run(attacker) {
    await attacker.crowd(CONNECTIONS, async (lane) => {
      const socket = await attacker.open();
      socket.resume();
      socket.write(`GET /v1/capabilities HTTP/1.1\r\nHost: 127.0.0.1\r\n`);
      for (let line = 0; !socket.destroyed && !attacker.isOver; line++) {
        await attacker.rest(EACH_MS + (lane % 100));
        socket.write(`x-slow-${line}: ${"s".repeat(32)}\r\n`);
        attacker.count("line");
      }
    });
  },
};
