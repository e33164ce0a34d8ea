import type { AttackClass } from "../attack-class.ts";

const AGENTS = 25;
const CAPABILITIES = 256;
const DESCRIPTION = "d".repeat(2_600);

export const listing: AttackClass = {
  name: "listing",
  does: "25 agents list the same 256 capabilities in manifests of 0.7 MB; then every listing is requested",
  from: ["elsewhere", "beside"],
  lands: ["publish 200", "asked"],
  async run(attacker) {
    const capabilities = Array.from({ length: CAPABILITIES }, (_, index) => ({
      name: `listed-${index}`,
      description: DESCRIPTION,
    }));
    // It lists for the second half of its time, also while agents that were told to retry still enrol.
    const half = attacker.leftMs / 2;
    const enrolling = attacker.times(AGENTS, 4, () => attacker.enrolled(capabilities));
    await Promise.race([enrolling, attacker.rest(half)]);
    const paths = [
      "/v1/capabilities",
      "/v1/capabilities?capability=listed-1",
      "/v1/agents",
      "/v1/agents?limit=500",
    ];
    await attacker.crowd(4, (_lane, turn) => {
      attacker.count("asked");
      return attacker.ask({ path: paths[turn % paths.length]!, label: "list" });
    });
  },
};
