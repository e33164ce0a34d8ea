import type { AttackClass } from "../attack-class.ts";
import { attach } from "../toolkit/line.ts";

const AGENTS = 12;
const WAITING = 1_000;
const AT_ONCE = 100;
const FRAMES = 200;

export const fullCapability: AttackClass = {
  name: "full-capability",
  does: "a thousand handoffs wait for a capability that is at its limit, while the agent keeps announcing room for others",
  from: ["elsewhere", "spread"],
  lands: ["waiting 200", "credit"],
  async run(attacker) {
    const half = attacker.leftMs / 2;
    await attacker.crowd(AGENTS, async () => {
      const agent = await attacker.enrolled([
        { name: "full", concurrency: 1, lease_seconds: 600 },
        { name: "idle" },
      ]);
      const line = await attach(attacker, agent, { credit: 100 });
      for (let count = 0; count < WAITING && attacker.leftMs > half; count += AT_ONCE) {
        const calls = Array.from({ length: AT_ONCE }, () => {
          const { text } = agent.handoff(agent.id, { capability: "full" });
          return line.call("submit", { envelope: text });
        });
        for (const status of await Promise.all(calls)) attacker.count(`waiting ${status}`);
      }
      while (!attacker.isOver) {
        for (let frame = 0; frame < FRAMES; frame++) {
          line.say({ type: "credit", credit: 100 + (frame % 2) });
        }
        attacker.count("credit", FRAMES);
        await attacker.rest(5);
      }
    });
  },
};
