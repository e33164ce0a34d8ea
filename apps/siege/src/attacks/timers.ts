import type { AttackClass } from "../attack-class.ts";
import { attach } from "../toolkit/line.ts";

const AT_ONCE = 64;

export const timers: AttackClass = {
  name: "timers",
  does: "thousands of handoffs that nobody can take, all with their deadline in the same second: all become dead letters at once",
  from: ["elsewhere", "spread"],
  lands: ["submit 200"],
  async run(attacker) {
    await attacker.crowd(4, async () => {
      const actor = await attacker.enrolled([{ name: "work" }]);
      const nobody = await attacker.enrolled([{ name: "work" }]);
      const line = await attach(attacker, actor);
      while (!attacker.isOver) {
        const withinMs = Math.ceil(Date.now() / 1000) * 1000 + 1_000 - Date.now();
        const calls = Array.from({ length: AT_ONCE }, () => {
          const { text } = actor.handoff(nobody.id, { capability: "work" }, { withinMs });
          return line.call("submit", { envelope: text });
        });
        for (const status of await Promise.all(calls)) attacker.count(`submit ${status}`);
      }
    });
  },
};
