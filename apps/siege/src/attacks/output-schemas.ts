import type { AttackClass } from "../attack-class.ts";
import { accept, pair } from "../toolkit/pair.ts";

const OUTPUT = Array.from({ length: 20_000 }, (_, index) => ({ a: index }));
const SCHEMAS = [
  { uniqueItems: true },
  { contains: { const: -1 }, minContains: 0, items: { not: { enum: OUTPUT.slice(0, 500) } } },
  { items: { properties: { b: { pattern: "^(a|b)*a(a|b){100}$" } } }, uniqueItems: true },
];

export const outputSchemas: AttackClass = {
  name: "output-schemas",
  does: "delegators require output schemas that are costly to check, and their own recipients repeatedly return 20,000 objects",
  lands: ["offered", "result"],
  async run(attacker) {
    await attacker.crowd(3, async () => {
      const { delegator, recipient } = await pair(attacker, async (offer, own) => {
        await accept(offer, own);
        const { attempt, handoff } = offer;
        const body = { status: 200, output: OUTPUT };
        const envelope = own.recipient.about(handoff, "result", body, { attempt });
        const status = await own.line.call("submit", { envelope });
        attacker.count("result");
        attacker.count(`result ${status}`);
      });
      await attacker.crowd(2, async (_lane, turn) => {
        const contract = { output_schema: SCHEMAS[turn % SCHEMAS.length] };
        const body = { capability: "work", contract };
        await attacker.submit(delegator.handoff(recipient.id, body).text, "handoff");
        await attacker.rest(20);
      });
    });
  },
};
