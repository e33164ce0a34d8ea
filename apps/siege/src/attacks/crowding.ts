import type { AttackClass } from "../attack-class.ts";
import { attach } from "../toolkit/line.ts";

const AGENTS = 4;
const AT_ONCE = 32;
/** The recipient of the honest pair. */
const RECIPIENT = "honest-recipient";

export const crowding: AttackClass = {
  name: "crowding",
  does: "agents hand off to the recipient of the honest pair, with the highest priority and as fast as possible, and cancel every second handoff",
  from: ["elsewhere", "beside"],
  lands: ["handoff 200"],
  async run(attacker) {
    await attacker.crowd(AGENTS, async () => {
      const actor = await attacker.enrolled();
      const line = await attach(attacker, actor, { credit: 1 });
      await attacker.crowd(AT_ONCE, async (_lane, turn) => {
        const body = { capability: "double", input: turn };
        const handoff = actor.handoff(RECIPIENT, body, { priority: 9 });
        const status = await line.call("submit", { envelope: handoff.text });
        attacker.count(`handoff ${status}`);
        if (turn % 2 === 0) return;
        const cancel = actor.about(handoff, "cancel", { reason: "no more" }, { to: RECIPIENT });
        attacker.count(`cancel ${await line.call("submit", { envelope: cancel })}`);
      });
    });
  },
};
