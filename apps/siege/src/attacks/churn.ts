import type { AttackClass } from "../attack-class.ts";

export const churn: AttackClass = {
  name: "churn",
  does: "connections that are opened and reset at once, as fast as possible",
  from: ["elsewhere", "beside", "spread"],
  lands: ["opened"],
  async run(attacker) {
    await attacker.crowd(64, async (_lane, turn) => {
      const socket = await attacker.open();
      attacker.count("opened");
      if (turn % 3 === 0) socket.write("GET / HTTP/1.1\r\n");
      socket.resetAndDestroy();
    });
  },
};
