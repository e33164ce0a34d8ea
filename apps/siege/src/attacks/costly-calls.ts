import type { AttackClass } from "../attack-class.ts";
import { attach } from "../toolkit/line.ts";

const AGENTS = 4;
const AT_ONCE = 500;
const VERSIONS = 64;
const CAPABILITY = "costly-call";
/** Short, and as costly to check as one search may be. */
const INPUT = "ab".repeat(1_500);

export const costlyCalls: AttackClass = {
  name: "costly-calls",
  does: "agents keep hundreds of searches and handoffs in flight, with short inputs that are costly to check, to crowd out the calls of others",
  from: ["elsewhere", "spread"],
  lands: ["search", "submit 200"],
  async run(attacker) {
    const schema = { type: "string", pattern: "^(a|b)*a(a|b){200}$" };
    const capabilities = Array.from({ length: VERSIONS }, (_, index) => ({
      name: CAPABILITY,
      version: `${index + 1}`,
      // The first one accepts everything, so that a handoff is not refused.
      input_schema: index === 0 ? true : schema,
    }));
    const taker = await attacker.enrolled(capabilities);
    await attach(attacker, taker, { credit: 10_000 });
    await attacker.crowd(AGENTS, async () => {
      const actor = await attacker.enrolled();
      const line = await attach(attacker, actor);
      const asked = { capability: CAPABILITY, input: INPUT };
      const call = async (lane: number): Promise<void> => {
        if (lane % 2 === 0) {
          attacker.count("search");
          return attacker.count(`find ${await line.call("find", asked)}`);
        }
        const { text } = actor.handoff({ capability: CAPABILITY }, asked);
        attacker.count(`submit ${await line.call("submit", { envelope: text })}`);
      };
      await attacker.crowd(AT_ONCE, call);
    });
  },
};
