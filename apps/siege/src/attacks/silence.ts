import type { AttackClass } from "../attack-class.ts";

const CONNECTIONS = 4_000;

export const silence: AttackClass = {
  name: "silence",
  does: "4,000 connections are opened and send nothing, or half a line",
  from: ["elsewhere", "beside", "spread"],
  lands: ["opened"],
  async run(attacker) {
    await attacker.times(CONNECTIONS, 64, async (index) => {
      const socket = await attacker.open();
      attacker.count("opened");
      if (index % 2 === 0) socket.write("GET /v1/capab");
    });
    await attacker.hold();
  },
};
