import type { AttackClass } from "../attack-class.ts";
import { attach } from "../toolkit/line.ts";
import { accept, pair } from "../toolkit/pair.ts";

const AT_ONCE = 64;
const DATA = "p".repeat(10_000);

export const progressFlood: AttackClass = {
  name: "progress-flood",
  does: "recipients report progress without a pause, 10 kB at a time, to delegators that read it",
  from: ["elsewhere", "spread"],
  lands: ["offered", "progress 200"],
  async run(attacker) {
    await attacker.crowd(4, async () => {
      const both = await pair(attacker, async (offer, own) => {
        await accept(offer, own);
        while (!attacker.isOver) {
          const calls = Array.from({ length: AT_ONCE }, () => {
            const body = { fraction: 0.5, data: DATA };
            const { attempt } = offer;
            const envelope = own.recipient.about(offer.handoff, "progress", body, { attempt });
            return own.line.call("submit", { envelope });
          });
          for (const status of await Promise.all(calls)) attacker.count(`progress ${status}`);
        }
      });
      await attach(attacker, both.delegator);
      const handoff = both.delegator.handoff(both.recipient.id, { capability: "work" });
      await attacker.submit(handoff.text, "handoff");
      await attacker.hold();
    });
  },
};
