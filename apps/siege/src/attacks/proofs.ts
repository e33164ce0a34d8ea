import type { AttackClass } from "../attack-class.ts";

export const proofs: AttackClass = {
  name: "proofs",
  does: "agents sign thousands of requests, each with a new proof, so that the hub has to remember every proof",
  from: ["elsewhere", "spread"],
  lands: ["200"],
  async run(attacker) {
    await attacker.crowd(32, async () => {
      const actor = await attacker.enrolled();
      await attacker.crowd(2, () => attacker.ask({ path: "/v1/agents?limit=1", as: actor }));
    });
  },
};
