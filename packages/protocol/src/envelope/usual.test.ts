import fc from "fast-check";
import { expect, test } from "vitest";
import { newId } from "../id.ts";
import { digestOf } from "../signing/digest.ts";
import type { EnvelopeKind } from "./envelope.ts";
import { envelopeSchemas } from "./envelope-schema.ts";
import { isUsual } from "./usual.ts";

const digest = digestOf("");
const about = {
  waybill: 1,
  id: newId(),
  from: "editor-001",
  to: "recipient",
  handoff_id: newId(),
  correlation_id: newId(),
  issued_at: "2026-11-18T07:45:00.000Z",
  traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
  tracestate: "a=1",
};
const input = { text: "done", list: [1, { nested: null }] };
const CASES = [
  {
    ...about,
    kind: "handoff",
    to: { capability: "a.b", version: "2" },
    deadline: "2026-11-18T08:45:00Z",
    parent_id: newId(),
    hop: 1,
    replay_of: newId(),
    body: { capability: "a.b", version: "2", input },
  },
  { ...about, kind: "handoff", deadline: about.issued_at, body: { capability: "a", input: null } },
  { ...about, kind: "receipt", re: digest, attempt: 1, body: { status: 101, reason: "why" } },
  { ...about, kind: "receipt", re: digest, body: { status: 100 } },
  { ...about, kind: "result", re: digest, attempt: 2, body: { status: 200, output: input } },
  {
    ...about,
    kind: "result",
    re: digest,
    attempt: 2,
    body: { status: 200, output: 1, effects: "done" },
  },
] as const;

const ODD: readonly unknown[] = [
  [undefined, null, true, "", "x".repeat(257), "x".repeat(65_537), [], {}, [1]],
  [0, -0, -1, 1, 1.5, 65_535, 65_536, 2 ** 53, NaN, Infinity, 99, 100, 200, 404, "200"],
  ["handoff", "receipt", "result", "cancel", "__proto__", "done", "Recipient", "recipient."],
  [newId().toUpperCase(), `${newId()}\n`, `${digest}0`, "sha256:", `x${about.traceparent}`],
  ["00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01", "2026-11-18T07:45:00+00:00"],
  [{ capability: "a" }, { capability: ":" }, { capability: "a", tags: ["t"] }, { status: 7 }],
].flat();

/** What somebody might write in the place of any member, near the edges of what is allowed. */
const odd = fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constantFrom(...ODD));
const member = fc.constantFrom(
  ...new Set(CASES.flatMap((each) => [...Object.keys(each), ...Object.keys(each.body), "other"])),
);

test("what comes by the thousand is usual", () => {
  for (const each of CASES) expect(isUsual(each)).toBe(true);
});

test("what is usual is what the schema gives back for it, however it was changed", () => {
  let usual = 0;
  const change = fc.record({ in: fc.constantFrom("body", "to", "envelope"), member, odd });
  fc.assert(
    fc.property(
      fc.constantFrom(...CASES),
      fc.array(change, { maxLength: 2 }),
      fc.boolean(),
      (original, changes, isRemoved) => {
        const value = structuredClone(original) as Record<string, unknown>;
        for (const { in: place, member: name, odd: instead } of changes) {
          const inner = place === "envelope" ? value : value[place];
          if (typeof inner !== "object" || inner === null) continue;
          if (isRemoved) delete (inner as Record<string, unknown>)[name];
          else (inner as Record<string, unknown>)[name] = instead;
        }
        if (!isUsual(value)) return;
        usual++;
        const result = envelopeSchemas()[value["kind"] as EnvelopeKind].safeParse(value);
        expect(result.success).toBe(true);
        expect(result.data).toEqual(value);
      },
    ),
    { numRuns: 20_000 },
  );
  expect(usual).toBeGreaterThan(1_000);
});

test("an array, or what inherits its members, is left to the schema", () => {
  expect(isUsual({ ...CASES[3], body: Object.assign([], CASES[3].body) })).toBe(false);
  expect(isUsual(Object.assign([], CASES[3]))).toBe(false);
});
