import type { AttackClass } from "../attack-class.ts";

const AGENTS = 40;
const CAPABILITIES = 50;

export const finds: AttackClass = {
  name: "finds",
  does: "40 agents with 50 capabilities each, searched by names, versions, tags and words that fit all of them or none",
  from: ["elsewhere", "spread"],
  lands: ["publish 200", "asked"],
  async run(attacker) {
    const half = attacker.leftMs / 2;
    const capabilities = Array.from({ length: CAPABILITIES }, (_, index) => ({
      name: `find-${index}`,
      description: "find me by any of these words ".repeat(60),
      tags: Array.from({ length: 60 }, (__, tag) => `tag-${tag}`),
    }));
    await attacker.times(AGENTS, 4, async () => {
      if (attacker.leftMs > half) await attacker.enrolled(capabilities);
    });
    const words = "find me by any of these words ".repeat(15).trim().replaceAll(" ", "+");
    const tags = Array.from({ length: 60 }, (_, tag) => `tags=tag-${tag}`).join("&");
    const queries = [
      "capability=find-1",
      `capability=find-2&${tags}`,
      `capability=find-3&words=${words}`,
      "capability=find-4&version=%3E%3D0.0.0.0.1",
      "capability=nothing",
      `words=${words}`,
      "",
    ];
    await attacker.crowd(6, (lane, turn) => {
      attacker.count("asked");
      const query = queries[(lane + turn) % queries.length]!;
      return attacker.ask({ path: `/v1/capabilities?${query}`, label: "find" });
    });
  },
};
