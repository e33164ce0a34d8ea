import type { AttackClass } from "../attack-class.ts";

const CONNECTIONS = 1_000;

export const unreadAnswers: AttackClass = {
  name: "unread-answers",
  does: "1,000 connections ask once each for 0.7 MB and never read the answer",
  from: ["elsewhere", "spread"],
  lands: ["asked"],
  async run(attacker) {
    const { host, port } = attacker.place;
    const actor = await attacker.enrolled([
      { name: "unread", examples: [{ input: "u".repeat(500_000) }] },
    ]);
    const path = `/v1/agents/${actor.id}`;
    await attacker.times(CONNECTIONS, 32, async () => {
      const socket = await attacker.open();
      socket.pause();
      socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}:${port}\r\n\r\n`);
      attacker.count("asked");
    });
    await attacker.hold();
  },
};
