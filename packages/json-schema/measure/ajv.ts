// Compares this validator with ajv, in processor time: `pnpm beside-ajv`. Both validate the same
// values.
import { Ajv2020 } from "ajv/dist/2020.js";
import { compileSchema } from "@waybill/json-schema";

const ROUNDS = 15;

const schema = {
  type: "object",
  properties: {
    query: { type: "string", minLength: 1, maxLength: 200 },
    depth: { type: "integer", minimum: 1, maximum: 10 },
    language: { enum: ["de", "en", "fr"] },
    sources: { type: "array", items: { type: "string", pattern: "^https?://[a-z0-9.-]+/" } },
    filter: { anyOf: [{ type: "null" }, { type: "object", required: ["field", "is"] }] },
  },
  required: ["query"],
  additionalProperties: false,
};
const value = {
  query: "Who invented the waybill?",
  depth: 3,
  language: "en",
  sources: ["https://example.com/a", "https://example.org/b", "http://example.net/c"],
  filter: { field: "year", is: 1650 },
};
const list = { type: "array", items: schema };
// Copies, because a verdict on one object is remembered within a check.
const many = Array.from({ length: 4_000 }, () => structuredClone(value));
const hostile = { type: "string", pattern: "^(a+)+$" };
const text = `${"a".repeat(26)}!`;

const ajv = new Ajv2020({ strict: false });
const ours = {
  one: compileSchema(schema),
  many: compileSchema(list),
  text: compileSchema(hostile),
};
const theirs = {
  one: ajv.compile(schema),
  many: ajv.compile(list),
  text: ajv.compile(hostile),
};

const cases: readonly [name: string, times: number, theirs: () => unknown, ours: () => unknown][] =
  [
    ["compile a schema", 20, () => ajv.compile({ ...schema }), () => compileSchema(schema)],
    ["check a small value", 20_000, () => theirs.one(value), () => ours.one.check(value)],
    ["check 700 kB of JSON", 5, () => theirs.many(many), () => ours.many.check(many)],
    ["`^(a+)+$` on 26 a and a !", 1, () => theirs.text(text), () => ours.text.check(text)],
  ];

if (!theirs.one(value) || !theirs.many(many) || theirs.text(text)) throw new Error("ajv is wrong");
if ([ours.one.check(value), ours.many.check(many)].flat().length > 0)
  throw new Error("this validator is wrong");
if (ours.text.check(text).length !== 1) throw new Error("this validator is wrong");

console.log("| | ajv | here |\n| - | -: | -: |");
for (const [name, times, runTheirs, runOurs] of cases) {
  const columns = [runTheirs, runOurs].map((run) => inWords(microseconds(run, times)));
  console.log(`| ${name} | ${columns.join(" | ")} |`);
}

/** The best of several rounds, for one call. */
function microseconds(run: () => unknown, times: number): number {
  let best = Infinity;
  for (let round = 0; round < ROUNDS; round++) {
    const start = process.cpuUsage();
    for (let count = 0; count < times; count++) run();
    const { user, system } = process.cpuUsage(start);
    best = Math.min(best, (user + system) / times);
  }
  return best;
}

function inWords(us: number): string {
  if (us >= 1e6) return `${(us / 1e6).toFixed(1)} s`;
  if (us >= 1e3) return `${(us / 1e3).toFixed(1)} ms`;
  return `${us.toFixed(us < 10 ? 1 : 0)} µs`;
}
