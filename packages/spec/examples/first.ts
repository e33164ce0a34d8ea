import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

// The beginning of an implementation: WB-03 to WB-06, one function for each kind of text.
// It returns what it has read, or nothing where it refuses the text with 400.
const implementation = {
  id(text) {
    const form = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
    return form.test(text) ? { ms: parseInt(text.replace("-", "").slice(0, 12), 16) } : undefined;
  },
  agent_id(text) {
    return /^[a-z0-9]([a-z0-9._-]{0,126}[a-z0-9])?$/.test(text) ? {} : undefined;
  },
  time(text) {
    const [, seconds, fraction = ""] =
      /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d{1,9})?Z$/.exec(text) ?? [];
    const ms = Date.parse(`${seconds}${fraction.slice(0, 4)}Z`);
    // A date that does not exist becomes another one, or invalid.
    const isReal = !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(seconds!);
    return isReal ? { ms } : undefined;
  },
  digest(text, of) {
    if (!/^sha256:[0-9a-f]{64}$/.test(text)) return undefined;
    return of === undefined ? {} : { of: text === digestOf(of) ? of : undefined };
  },
} satisfies Record<string, (text: string, of?: string) => object | undefined>;

function digestOf(text: string): string {
  return `sha256:${createHash("sha256").update(text).digest("hex")}`;
}

// The runner: each input goes in, and what comes out is compared with what is expected.
const file = new URL(import.meta.resolve("@waybill/spec/vectors/ids-and-times.json"));
const { cases } = JSON.parse(readFileSync(file, "utf8"));
let passed = 0;
for (const { id, rule, title, input, expect } of cases) {
  const read = implementation[input.kind as keyof typeof implementation](input.text, expect.of);
  const outcome = read === undefined ? { status: 400 } : { status: "ok", ...read };
  if (JSON.stringify(outcome, Object.keys(expect)) === JSON.stringify(expect)) passed++;
  else console.log(`${id} (${rule}) ${title}: expected ${JSON.stringify(expect)}`);
}
console.log(`${passed} of ${cases.length} cases pass`);
