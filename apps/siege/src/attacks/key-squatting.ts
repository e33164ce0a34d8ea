import { generateKey } from "@waybill/protocol";
import type { AttackClass } from "../attack-class.ts";
import { Actor } from "../toolkit/actor.ts";

export const keySquatting: AttackClass = {
  name: "key-squatting",
  does: "agents list keys of others, and two enrol with the same key at the same moment",
  lands: ["enrolled"],
  never: ["a key was listed by one who does not hold it", "two agents were enrolled with one key"],
  async run(attacker) {
    await attacker.crowd(4, async (lane, turn) => {
      const owner = attacker.actor();
      const thief = attacker.actor();
      const keys = [thief.key.jwk, owner.key.jwk];
      const stolen = await attacker.publish(thief, [], { keys });
      if (stolen.status === 200) attacker.count("a key was listed by one who does not hold it");
      const shared = generateKey();
      const twins = [0, 1].map((n) => {
        const twin = new Actor(
          `twin-${attacker.origin}-${process.pid}-${lane}-${turn}-${n}`,
          attacker.place,
        );
        twin.key = shared;
        return twin;
      });
      const answers = await Promise.all(twins.map((twin) => attacker.publish(twin, [])));
      const enrolled = answers.filter(({ status }) => status === 200).length;
      attacker.count("enrolled", enrolled);
      if (enrolled > 1) attacker.count("two agents were enrolled with one key");
    });
  },
};
