import type { AttackClass } from "../attack-class.ts";
import { attach } from "../toolkit/line.ts";

const WAITING = 30;

export const reconnects: AttackClass = {
  name: "reconnects",
  does: "agents with 30 waiting deliveries of 20 kB attach, are disconnected, and reattach, as the same process and as others",
  from: ["elsewhere", "spread"],
  lands: ["attached"],
  async run(attacker) {
    const input = "w".repeat(20_000);
    await attacker.crowd(12, async (lane) => {
      const actor = await attacker.enrolled([{ name: "work" }]);
      await attacker.times(WAITING, 4, () =>
        attacker.submit(actor.handoff(actor.id, { capability: "work", input }).text),
      );
      for (let turn = 0; !attacker.isOver; turn++) {
        const instance = turn % 2 === 0 ? "the-same" : `another-${lane}-${turn}`;
        const line = await attach(attacker, actor, { credit: 10_000, instance });
        if (turn % 3 === 0) await attacker.rest(20);
        line.web.socket.resetAndDestroy();
      }
    });
  },
};
