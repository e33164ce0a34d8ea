import type { AttackClass } from "../attack-class.ts";
import { accept, pair } from "../toolkit/pair.ts";

const AT_ONCE = 32;

export const hoarding: AttackClass = {
  name: "hoarding",
  does: "recipients accept everything that their own delegators hand off, as fast as possible, and send nothing but heartbeats",
  from: ["elsewhere", "spread"],
  lands: ["offered", "submit 200"],
  async run(attacker) {
    await attacker.crowd(4, async () => {
      const { delegator, recipient, line } = await pair(attacker, async (offer, own) => {
        await accept(offer, own);
        const { handoff, attempt } = offer;
        while (!attacker.isOver) {
          await attacker.rest(1_000);
          own.line.say({ type: "heartbeat", handoff_id: handoff.handoffId, attempt });
        }
      });
      while (!attacker.isOver) {
        const calls = Array.from({ length: AT_ONCE }, () => {
          const { text } = delegator.handoff(recipient.id, { capability: "work" });
          return line.call("submit", { envelope: text });
        });
        for (const status of await Promise.all(calls)) attacker.count(`submit ${status}`);
      }
    });
  },
};
