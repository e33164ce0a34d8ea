import fc from "fast-check";
import { expect, test } from "vitest";
import { newId } from "../id.ts";
import { digestOf } from "../signing/digest.ts";
import type { EnvelopeKind } from "./envelope.ts";
import { envelopeSchemas } from "./envelope-schema.ts";
import { fitsFastPath } from "./fast-path.ts";

const digest = digestOf("");
const domain = "A".repeat(43);
const about = {
  waybill: 1,
  id: newId(),
  from: "editor-001",
  to: "recipient",
  handoff_id: newId(),
  correlation_id: newId(),
  issued_at: "2026-11-18T07:45:00.000Z",
  salt: "AAAAAAAAAAAAAAAAAAAAAA",
  traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
  tracestate: "a=1",
};
const input = { text: "done", list: [1, { nested: null }] };
const CASES = [
  {
    ...about,
    kind: "handoff",
    domain,
    to: { capability: "a.b", version: "2" },
    deadline: "2026-11-18T08:45:00Z",
    parent_id: newId(),
    hop: 1,
    replay_of: newId(),
    body: { capability: "a.b", version: "2", input },
  },
  {
    ...about,
    kind: "handoff",
    domain,
    deadline: about.issued_at,
    body: { capability: "a", input: null },
  },
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

/** Values to put in the place of any member, near the bounds of what is allowed. */
const ODD: readonly unknown[] = [
  undefined,
  null,
  true,
  "",
  "x".repeat(257),
  "x".repeat(513),
  "x".repeat(65_537),
  [],
  {},
  [1],
  0,
  -0,
  -1,
  1,
  1.5,
  65_535,
  65_536,
  2 ** 53,
  NaN,
  Infinity,
  99,
  100,
  200,
  404,
  "200",
  "handoff",
  "receipt",
  "result",
  "cancel",
  "__proto__",
  "done",
  "Recipient",
  "recipient.",
  newId().toUpperCase(),
  `${newId()}\n`,
  `${digest}0`,
  "sha256:",
  `x${about.traceparent}`,
  "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
  "2026-11-18T07:45:00+00:00",
  { capability: "a" },
  { capability: ":" },
  { capability: "a", tags: ["t"] },
  { status: 7 },
];
const odd = fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constantFrom(...ODD));
const MEMBERS = [
  ...new Set(CASES.flatMap((each) => [...Object.keys(each), ...Object.keys(each.body), "other"])),
];
const member = fc.constantFrom(...MEMBERS);
const PLACES = ["envelope", "body", "to"] as const;

type Members = Record<string, unknown>;

function placeIn(value: Members, place: (typeof PLACES)[number]): Members | undefined {
  const inner = place === "envelope" ? value : value[place];
  return typeof inner === "object" && inner !== null ? (inner as Members) : undefined;
}

/** Whether the fast path accepted it; fails if the schema would not return the same. */
function isUsualAndRight(value: Members): boolean {
  if (!fitsFastPath(value)) return false;
  const result = envelopeSchemas()[value["kind"] as EnvelopeKind].safeParse(value);
  expect(result).toEqual({ success: true, data: value });
  return true;
}

test("common envelopes take the fast path", () => {
  for (const each of CASES) expect(fitsFastPath(each)).toBe(true);
});

test("with one member changed or left out, the fast path accepts only what the schema returns unchanged", () => {
  let usual = 0;
  for (const original of CASES) {
    for (const place of PLACES) {
      for (const name of MEMBERS) {
        for (const instead of ODD) {
          const value = structuredClone(original) as Members;
          const inner = placeIn(value, place);
          if (inner === undefined) continue;
          inner[name] = instead;
          if (isUsualAndRight(value)) usual++;
        }
      }
    }
  }
  expect(usual).toBeGreaterThan(500);
});

test("with several members changed, the fast path accepts only what the schema returns unchanged", () => {
  const change = fc.record({ place: fc.constantFrom(...PLACES), member, odd });
  fc.assert(
    fc.property(
      fc.constantFrom(...CASES),
      fc.array(change, { maxLength: 3 }),
      fc.boolean(),
      (original, changes, isRemoved) => {
        const value = structuredClone(original) as Members;
        for (const { place, member: name, odd: instead } of changes) {
          const inner = placeIn(value, place);
          if (inner === undefined) continue;
          if (isRemoved) delete inner[name];
          else inner[name] = instead;
        }
        isUsualAndRight(value);
      },
    ),
    { numRuns: 5_000 },
  );
});

test("an array is left to the schema", () => {
  expect(fitsFastPath({ ...CASES[3], body: Object.assign([], CASES[3].body) })).toBe(false);
  expect(fitsFastPath(Object.assign([], CASES[3]))).toBe(false);
});
