import type { AttackClass } from "../attack-class.ts";

const CAPABILITIES = 256;
const PROPERTIES = 9;

export const manifestFlood: AttackClass = {
  name: "manifest-flood",
  does: "an agent publishes new manifests without a pause, each with 512 schemas to compile",
  from: ["elsewhere", "beside"],
  lands: ["published"],
  async run(attacker) {
    const members = Array.from({ length: PROPERTIES }, (_, index) => [
      `member-${index}`,
      { type: "string", pattern: "^(a|b){1,20}c*$", anyOf: [{ minLength: 1 }, { maxLength: 9 }] },
    ]);
    const schema = { type: "object", properties: Object.fromEntries(members) };
    const capabilities = Array.from({ length: CAPABILITIES }, (_, index) => ({
      name: `flood-${index}`,
      input_schema: schema,
      output_schema: schema,
    }));
    await attacker.crowd(4, async (lane, turn) => {
      const actor = attacker.actor(`flood-${lane}-${turn}`);
      await attacker.publish(actor, capabilities);
      attacker.count("published");
    });
  },
};
