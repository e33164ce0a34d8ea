import type { AttackClass } from "../attack-class.ts";
import { attach } from "../toolkit/line.ts";

export const retiredKey: AttackClass = {
  name: "retired-key",
  does: "the holder of a rotated-away key stays on its old socket, and makes calls and polls with the old key",
  lands: ["rotated", "handoff 200", "refused"],
  never: ["a retired key was sent a delivery", "a retired key was let in"],
  async run(attacker) {
    await attacker.crowd(4, async () => {
      const victim = await attacker.enrolled([{ name: "work" }]);
      const delegator = await attacker.enrolled();
      let isRotated = false;
      await attach(attacker, victim, {
        credit: 16,
        delivered: () => {
          if (isRotated) attacker.count("a retired key was sent a delivery");
        },
      });
      const old = victim.key;
      const { status } = await attacker.rotate(victim, [{ name: "work" }]);
      if (status !== 200) return attacker.count(`rotation ${status}`);
      isRotated = true;
      attacker.count("rotated");
      await attacker.submit(delegator.handoff(victim.id, { capability: "work" }).text, "handoff");
      victim.key = old;
      const path = "/v1/inbox?instance=old&wait_seconds=0";
      const polled = await attacker.ask({ path, as: victim, label: "poll" });
      const sent = await attacker.submit(
        victim.handoff(delegator.id, { capability: "x" }).text,
        "sent",
      );
      for (const answer of [polled.status, sent.status]) {
        attacker.count(answer === 200 ? "a retired key was let in" : "refused");
      }
      await attacker.rest(100);
    });
  },
};
