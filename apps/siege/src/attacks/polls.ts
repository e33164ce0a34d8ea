import type { AttackClass } from "../attack-class.ts";

const AGENTS = 300;
const EACH = 4;

export const polls: AttackClass = {
  name: "polls",
  does: "300 agents keep four long polls of a minute open each, and start another whenever one is answered",
  from: ["elsewhere", "spread"],
  lands: ["polled"],
  async run(attacker) {
    await attacker.crowd(AGENTS, async (lane) => {
      const actor = await attacker.enrolled();
      attacker.count("polled");
      await attacker.crowd(EACH, async (_, turn) => {
        const instance = turn % 5 === 4 ? `${lane}-${turn}` : `${lane}`;
        const path = `/v1/inbox?instance=${instance}&wait_seconds=60&credit=10000`;
        await attacker.ask({ path, as: actor, label: "poll" });
      });
    });
  },
};
