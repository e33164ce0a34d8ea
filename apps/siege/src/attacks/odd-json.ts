import type { AttackClass } from "../attack-class.ts";

/** Each is inserted unchanged between the members of a handoff. */
const ODDITIES: readonly string[] = [
  '"__proto__":{"a":1}',
  '"a":{"constructor":{"prototype":{"b":1}}}',
  '"a":1,"a":2',
  '"a":1e400',
  '"a":-9007199254740993',
  '"a":1.0000000000000001',
  '"a":"\\ud800"',
  '"a":"\\u0000"',
  '"\\u005f_proto__":1',
  `"a":${"9".repeat(100_000)}`,
  `"a":0.${"0".repeat(100_000)}1`,
  `"${"k".repeat(300_000)}":1`,
  `"a":"${"\\u0041".repeat(100_000)}"`,
  `"a":[${"1e1,".repeat(100_000)}1]`,
  '"kind":"manifest"',
  '"waybill":2',
];

export const oddJson: AttackClass = {
  name: "odd-json",
  does: "validly signed JSON that parsers disagree on: duplicate names, __proto__, 1e400, lone surrogates, numbers of 100,000 digits",
  lands: ["submit 400"],
  never: ["submit 500"],
  async run(attacker) {
    const actor = await attacker.enrolled([{ name: "odd" }]);
    const body = { capability: "odd" };
    await attacker.crowd(4, (lane, turn) => {
      const { text } = actor.handoff(actor.id, body);
      const payload = Buffer.from(text.split(".")[1]!, "base64url").toString();
      const odd = ODDITIES[(lane + turn) % ODDITIES.length]!;
      return attacker.submit(actor.signText(`{${odd},${payload.slice(1)}`));
    });
  },
};
