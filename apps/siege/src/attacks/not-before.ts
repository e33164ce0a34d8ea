import type { AttackClass } from "../attack-class.ts";
import { attach } from "../toolkit/line.ts";
import { accept, pair } from "../toolkit/pair.ts";

const PAIRS = 4;
const AT_ONCE = 64;

export const notBefore: AttackClass = {
  name: "not-before",
  does: "thousands of handoffs of every priority that may not start before the same second, so that all are due at once",
  from: ["elsewhere"],
  lands: ["handoff 200", "offered"],
  async run(attacker) {
    const due = Date.now() + attacker.leftMs / 2;
    await attacker.crowd(PAIRS, async () => {
      const both = await pair(attacker, accept);
      const line = await attach(attacker, both.delegator);
      await attacker.crowd(AT_ONCE, async (lane) => {
        if (Date.now() >= due) return attacker.hold();
        const body = { capability: "work" };
        const not_before = new Date(due).toISOString();
        const more = { priority: lane % 10, not_before };
        const { text } = both.delegator.handoff(both.recipient.id, body, more);
        attacker.count(`handoff ${await line.call("submit", { envelope: text })}`);
      });
    });
  },
};
