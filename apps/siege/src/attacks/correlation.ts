import { newId } from "@waybill/protocol";
import type { AttackClass } from "../attack-class.ts";
import { attach } from "../toolkit/line.ts";

const AT_ONCE = 64;

export const correlation: AttackClass = {
  name: "correlation",
  does: "thousands of handoffs under one correlation id and in one trace, listed repeatedly through every endpoint",
  from: ["elsewhere", "spread"],
  lands: ["submit 200", "list 200"],
  async run(attacker) {
    const actor = await attacker.enrolled([{ name: "work" }]);
    const stranger = await attacker.enrolled();
    const line = await attach(attacker, actor);
    const more = {
      correlation_id: newId(),
      traceparent: `00-${"a".repeat(32)}-${"b".repeat(16)}-01`,
    };
    const half = attacker.leftMs / 2;
    await attacker.crowd(6, async (lane, turn) => {
      if (lane === 0 || attacker.leftMs > half) {
        const calls = Array.from({ length: AT_ONCE }, () => {
          const { text } = actor.handoff(actor.id, { capability: "work" }, more);
          return line.call("submit", { envelope: text });
        });
        for (const status of await Promise.all(calls)) attacker.count(`submit ${status}`);
        return;
      }
      const after = turn % 2 === 0 ? "" : `&after=${newId()}`;
      const path = `/v1/handoffs?correlation_id=${more.correlation_id}&limit=500${after}`;
      await attacker.ask({ path, as: lane % 2 === 0 ? actor : stranger, label: "list" });
    });
  },
};
