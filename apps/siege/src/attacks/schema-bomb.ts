import type { AttackClass } from "../attack-class.ts";

/** The largest number of versions that a manifest may hold, and fewer until the hub accepts it. */
const VERSIONS = [256, 64, 16, 4, 1];

/** One capability in many versions, each with its own schema to check. */
function bomb(name: string, does: string, schema: object, input: () => unknown): AttackClass {
  return {
    name: `schema-${name}`,
    does,
    from: ["elsewhere"],
    lands: ["publish 200", "asked"],
    async run(attacker) {
      const capability = `bomb-${name}`;
      const actor = attacker.actor();
      for (const versions of VERSIONS) {
        const capabilities = Array.from({ length: versions }, (_, index) => ({
          name: capability,
          version: `${index + 1}`,
          input_schema: schema,
        }));
        const { status } = await attacker.publish(actor.forget(), capabilities);
        if (status === 200) break;
      }
      const given = input();
      const query = JSON.stringify({ capability, input: given });
      await attacker.crowd(4, (lane) => {
        attacker.count("asked");
        if (lane === 0) {
          const { text } = actor.handoff({ capability }, { capability, input: given });
          return attacker.submit(text);
        }
        return attacker.ask({
          method: "POST",
          path: "/v1/capabilities/find",
          body: query,
          label: "find",
        });
      });
    },
  };
}

export const schemaPattern: AttackClass = bomb(
  "pattern",
  "one capability in 256 versions with a pattern of 200 states, found for an input of 400 kB",
  { type: "string", pattern: "^(a|b)*a(a|b){200}$" },
  () => "ab".repeat(200_000),
);

export const schemaUnique: AttackClass = bomb(
  "unique",
  "256 versions with uniqueItems, found for an array of 40,000 objects",
  { type: "array", uniqueItems: true },
  () => Array.from({ length: 40_000 }, (_, index) => ({ a: index })),
);

export const schemaContains: AttackClass = bomb(
  "contains",
  "256 versions with 40 contains each, found for an array of 100,000 numbers",
  {
    allOf: Array.from({ length: 40 }, (_, index) => ({
      contains: { const: -index - 1 },
      minContains: 0,
    })),
  },
  () => Array.from({ length: 100_000 }, (_, index) => index % 10),
);
