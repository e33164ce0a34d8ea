import type { AttackClass } from "../attack-class.ts";
import { attach } from "../toolkit/line.ts";
import { accept, pair } from "../toolkit/pair.ts";

const TEXT = "d".repeat(4_000);
const A_TURN = 100;

export const deltaFlood: AttackClass = {
  name: "delta-flood",
  does: "recipients stream tokens without a pause, 4 kB at a time, to delegators that never read",
  from: ["elsewhere", "spread"],
  lands: ["offered", "delta"],
  async run(attacker) {
    await attacker.crowd(8, async () => {
      const both = await pair(attacker, async (offer, own) => {
        await accept(offer, own);
        const { handoff, attempt } = offer;
        for (let number = 1; !attacker.isOver && !own.line.web.socket.destroyed; number++) {
          const delta = { handoff_id: handoff.handoffId, attempt, number, text: TEXT };
          own.line.say({ type: "delta", ...delta });
          attacker.count("delta");
          if (number % A_TURN === 0) await attacker.rest(1);
        }
      });
      const line = await attach(attacker, both.delegator);
      line.web.socket.pause();
      const handoff = both.delegator.handoff(both.recipient.id, { capability: "work" });
      await attacker.submit(handoff.text, "handoff");
      while (!both.line.web.socket.destroyed && !attacker.isOver) await attacker.rest(100);
    });
  },
};
