import type { AttackClass } from "../attack-class.ts";

/** Each agent validly signs envelopes of the maximum size. */
const INPUTS: readonly (() => unknown)[] = [
  () => Array.from({ length: 300_000 }, () => 0),
  () => Array.from({ length: 200_000 }, () => []),
  () => Object.fromEntries(Array.from({ length: 60_000 }, (_, index) => [`m${index}`, 0])),
  () => "\u{10ffff}".repeat(150_000),
  () => Array.from({ length: 32_000 }, () => 1.7976931348623157e308),
];

export const wideJson: AttackClass = {
  name: "wide-json",
  does: "valid handoffs whose inputs are arrays of 300,000 and objects of 60,000 members",
  from: ["elsewhere", "beside"],
  lands: ["submit 200"],
  async run(attacker) {
    const actor = await attacker.enrolled([{ name: "wide" }]);
    const inputs = INPUTS.map((input) => input());
    await attacker.crowd(3, (lane, turn) => {
      const input = inputs[(lane + turn) % inputs.length];
      const { text } = actor.handoff(actor.id, { capability: "wide", input });
      return attacker.submit(text);
    });
  },
};
