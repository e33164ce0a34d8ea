import type { AttackClass } from "../attack-class.ts";

export const massEnrolment: AttackClass = {
  name: "mass-enrolment",
  does: "new agents enrol as fast as possible, each with a key, a few capabilities and an inbox",
  from: ["elsewhere", "spread"],
  lands: ["publish 200"],
  async run(attacker) {
    await attacker.crowd(16, (lane, turn) =>
      attacker.enrolled([{ name: `enrolled-${lane}-${turn}` }, { name: "enrolled" }], {
        description: "e".repeat(1_000),
        inbox: "https://127.0.0.9/inbox",
      }),
    );
  },
};
