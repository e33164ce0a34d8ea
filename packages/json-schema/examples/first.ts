import { compileSchema, JsonSchemaError } from "@waybill/json-schema";

// A schema from an untrusted source. A backtracking engine would need more time for its pattern, on the
// text below, than anybody can wait.
const { check } = compileSchema({
  type: "object",
  properties: { name: { type: "string", pattern: "^(a+)+$" }, age: { type: "integer" } },
  required: ["name"],
});

console.log(check({ name: "aaa", age: 30 }));
for (const { at, message } of check({ name: `${"a".repeat(100_000)}!`, age: "old" })) {
  console.log(`${at}: ${message}`);
}

// A schema that can't be checked safely is refused before it sees any value.
const refused = [
  { $ref: "http://169.254.169.254/latest/meta-data" },
  { pattern: "^(?=.*a)b" },
  { allOf: [{ $ref: "#" }] },
];
for (const schema of refused) {
  try {
    compileSchema(schema);
  } catch (error) {
    if (!JsonSchemaError.is(error)) throw error;
    console.log(`${error.kind}: ${error.message}`);
  }
}
