import type { AttackClass } from "../attack-class.ts";

/** Schemas that are costly to read, compile or run, or that must not be followed at all. */
const SCHEMAS: readonly unknown[] = [
  nested((inner) => ({ anyOf: [inner, inner] }), 12),
  nested((inner) => ({ type: "object", properties: { a: inner } }), 31),
  nested((inner) => ({ not: inner }), 60),
  { pattern: "(a{1,1000}){1,1000}" },
  { pattern: `(${"a?".repeat(2_000)})${"a".repeat(2_000)}` },
  { pattern: "[\\p{L}\\p{N}]{1000}|[^\\p{L}]{1000}" },
  { patternProperties: Object.fromEntries(range(500).map((n) => [`^(x|y)*${n}$`, {}])) },
  { properties: Object.fromEntries(range(9_000).map((n) => [`p${n}`, {}])) },
  { enum: range(50_000) },
  { $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } } },
  { $ref: "http://127.0.0.9/schema" },
  { $defs: { a: { items: { $ref: "#/$defs/a" } } }, $ref: "#/$defs/a" },
  { oneOf: range(3_000).map((n) => ({ required: [`r${n}`] })) },
  {
    dependentSchemas: Object.fromEntries(range(2_000).map((n) => [`d${n}`, { minProperties: n }])),
  },
  {
    unevaluatedProperties: false,
    allOf: range(1_000).map((n) => ({ properties: { [`u${n}`]: {} } })),
  },
];

export const hostileSchemas: AttackClass = {
  name: "hostile-schemas",
  does: "manifests and contracts with schemas that are deep, wide, circular, remote or full of costly patterns, and inputs for those that are accepted",
  lands: ["published", "submitted"],
  async run(attacker) {
    const input = Object.fromEntries(range(20_000).map((n) => [`u${n}`, n]));
    await attacker.crowd(3, async (_lane, turn) => {
      const schema = SCHEMAS[turn % SCHEMAS.length];
      const actor = attacker.actor();
      const capability = { name: `hostile-${turn}`, input_schema: schema, output_schema: schema };
      const { status } = await attacker.publish(actor, [capability]);
      attacker.count("published");
      // After a refusal the agent enrols without the schema, and puts it into a contract.
      const delegator = status === 200 ? actor : await attacker.enrolled();
      const contract = { output_schema: schema };
      const body = { capability: capability.name, input, contract };
      const { text } = delegator.handoff({ capability: capability.name }, body);
      await attacker.submit(text);
      attacker.count("submitted");
    });
  },
};

function range(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index);
}

function nested(wrap: (inner: unknown) => unknown, depth: number): unknown {
  let schema: unknown = {};
  for (let level = 0; level < depth; level++) schema = wrap(schema);
  return schema;
}
