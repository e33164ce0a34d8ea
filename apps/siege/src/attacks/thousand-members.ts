import type { AttackClass } from "../attack-class.ts";
import { attach } from "../toolkit/line.ts";

const MEMBERS = 1_000;
const AT_ONCE = 16;

export const thousandMembers: AttackClass = {
  name: "thousand-members",
  does: "up to 1,000 agents offer one capability, which is searched and handed off to without a pause",
  from: ["elsewhere", "spread"],
  lands: ["publish 200", "asked"],
  async run(attacker) {
    const capability = { name: "everybody", input_schema: { type: "object" } };
    const half = attacker.leftMs / 2;
    await attacker.times(MEMBERS, 16, async () => {
      if (attacker.leftMs > half) await attacker.enrolled([capability]);
    });
    const delegator = await attacker.enrolled();
    const line = await attach(attacker, delegator);
    await attacker.crowd(4, async (lane) => {
      attacker.count("asked");
      if (lane % 2 === 0) {
        return attacker.ask({ path: "/v1/capabilities?capability=everybody", label: "find" });
      }
      const calls = Array.from({ length: AT_ONCE }, () => {
        const body = { capability: "everybody", input: {} };
        const { text } = delegator.handoff({ capability: "everybody" }, body);
        return line.call("submit", { envelope: text });
      });
      for (const status of await Promise.all(calls)) attacker.count(`submit ${status}`);
      return undefined;
    });
  },
};
