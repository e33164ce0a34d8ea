import type { Json } from "@waybill/protocol";
import { expect, test } from "vitest";
import { canHold, draftOf, problemsOf, valueOf } from "./draft.ts";
import type { Draft } from "./draft.ts";
import { FORM_LIMITS, fieldOf } from "./field.ts";

const REVIEW = {
  type: "object",
  required: ["approved", "stars", "tags", "by"],
  properties: {
    approved: { type: "boolean", title: "Approve it?" },
    stars: { type: "integer", minimum: 1, maximum: 5 },
    share: { type: "number" },
    comment: { type: ["string", "null"] },
    tags: { type: "array", items: { enum: ["late", "good", 7] } },
    by: {
      type: "object",
      required: ["email"],
      properties: { email: { $ref: "#/$defs/address" }, due: { type: "string", format: "date" } },
    },
    extra: { oneOf: [{ type: "string" }, { type: "array" }] },
  },
  $defs: { address: { type: "string", format: "email" } },
};

function group(draft: Draft, name: string, next: Draft): Draft {
  return new Map(draft as ReadonlyMap<string, Draft>).set(name, next);
}

test("each kind of schema has its field, and anything else is entered as JSON", () => {
  const field = fieldOf(REVIEW, "Review");
  const members = field.kind === "group" ? field.members : [];
  expect(members.map(({ name, kind, isRequired }) => [name, kind, isRequired])).toEqual([
    ["approved", "yes or no", true],
    ["stars", "number", true],
    ["share", "number", false],
    ["comment", "text", false],
    ["tags", "list", true],
    ["by", "group", true],
    ["extra", "json", false],
  ]);
  expect(field.label).toBe("Review");
  expect(members[0]!.label).toBe("Approve it?");
  expect(members[5]).toMatchObject({ members: [{ format: "email" }, { format: "date" }] });
});

test.for<[string, Json]>([
  [
    "full",
    {
      approved: false,
      stars: 4,
      share: 0.5,
      comment: "good",
      tags: ["late", 7],
      by: { email: "a@b.example", due: "2026-11-20" },
      extra: ["x"],
    },
  ],
  ["least", { approved: true, stars: 1, tags: [], by: { email: "a@b.example" } }],
])("a value goes through the fields unchanged: %s", ([, value]) => {
  const field = fieldOf(REVIEW, "Review");
  expect(canHold(field, value)).toBe(true);
  expect(valueOf(field, draftOf(field, value))).toEqual({ value, problems: [] });
  expect(problemsOf(REVIEW, { field, draft: draftOf(field, value), value })).toEqual([]);
});

test("what the fields would lose is noticed", () => {
  const field = fieldOf(REVIEW, "Review");
  const least = { approved: true, stars: 1, tags: [], by: { email: "a@b.example" } };
  expect(canHold(field, { ...least, unknown: 1 })).toBe(false);
  expect(canHold(field, { ...least, stars: "many" })).toBe(false);
  expect(canHold(field, { ...least, tags: ["early"] })).toBe(false);
  expect(canHold(field, { stars: 3, tags: [], by: {} })).toBe(true);
});

test("an empty form names each required field, and nothing is chosen beforehand", () => {
  const field = fieldOf(REVIEW, "Review");
  const { problems } = valueOf(field, draftOf(field));
  expect(problems.map(({ at }) => at)).toEqual(["/approved", "/stars", "/by/email"]);
});

test("a number that is none, or that a browser would change, is refused at its field", () => {
  const field = fieldOf(REVIEW, "Review");
  for (const typed of ["four", "1.5", "9007199254740993", "1e400"]) {
    const draft = group(draftOf(field), "stars", typed);
    expect(valueOf(field, draft).problems).toContainEqual({
      at: "/stars",
      message: "Enter a whole number, such as 12.",
    });
  }
});

test("what breaks the schema is told at the nearest field", () => {
  const field = fieldOf(REVIEW, "Review");
  const value = { approved: true, stars: 9, tags: [], by: { email: "a@b.example" }, extra: 1 };
  const draft = draftOf(field, value);
  const found = problemsOf(REVIEW, { field, draft, value });
  expect(found).toContainEqual({ at: "/stars", message: "Expected a number of at most 5, got 9." });
  expect(found.some(({ at }) => at === "/extra")).toBe(true);
});

test("an optional group that is left empty is not sent, and one that is begun is checked", () => {
  const schema = { type: "object", properties: { by: REVIEW.properties.by }, $defs: REVIEW.$defs };
  const field = fieldOf(schema, "Note");
  const empty = draftOf(field);
  expect(valueOf(field, empty)).toEqual({ value: {}, problems: [] });
  const inner = (empty as ReadonlyMap<string, Draft>).get("by")!;
  const begun = group(empty, "by", group(inner, "due", "2026-11-20"));
  expect(valueOf(field, begun).problems.map(({ at }) => at)).toEqual(["/by/email"]);
});

test("null stands for a field that is left empty if the schema wants one", () => {
  for (const schema of [
    { type: ["string", "null"] },
    { anyOf: [{ type: "null" }, { type: "string" }] },
  ]) {
    const field = fieldOf(schema, "Answer");
    expect(field).toMatchObject({ kind: "text", isNullable: true });
    expect(valueOf(field, "")).toEqual({ value: null, problems: [] });
  }
});

test("members with the names of an object's own parts are ordinary members", () => {
  const schema = JSON.parse(
    `{"type":"object","required":["__proto__"],"properties":{"__proto__":{"type":"string"},"constructor":{"type":"string"},"a/~b":{"type":"string"}}}`,
  ) as unknown;
  const field = fieldOf(schema, "Input");
  const empty = draftOf(field);
  expect(valueOf(field, empty).problems.map(({ at }) => at)).toEqual(["/__proto__"]);
  const { value } = valueOf(field, group(empty, "__proto__", "text"));
  expect(JSON.stringify(value)).toBe(`{"__proto__":"text"}`);
});

test("a hostile schema costs little, and is entered as JSON where it goes too far", () => {
  const deep: Record<string, unknown> = { type: "object" };
  let inner = deep;
  for (let depth = 0; depth < 5_000; depth++) {
    const next: Record<string, unknown> = { type: "object" };
    inner["properties"] = { deeper: next };
    inner = next;
  }
  const wide = {
    type: "object",
    properties: Object.fromEntries(
      Array.from({ length: 100_000 }, (_, index) => [`m${index}`, { type: "string" }]),
    ),
  };
  // Each level has the whole schema twice.
  const doubling = {
    type: "object",
    properties: { left: { $ref: "#" }, right: { $ref: "#" } },
  };
  for (const schema of [
    deep,
    wide,
    doubling,
    { $ref: "#" },
    { $ref: "https://elsewhere.example/schema" },
    { $ref: "#/constructor/prototype" },
    { type: "array", items: { $ref: "#" } },
    { enum: Array.from({ length: 100_000 }, (_, index) => index) },
    true,
    null,
    7,
    { type: { type: "object" }, properties: [1], required: "all", title: 7 },
  ]) {
    const field = fieldOf(schema, "Input");
    expect(countOf(field)).toBeLessThanOrEqual(FORM_LIMITS.fields * 2);
    expect(() => draftOf(field)).not.toThrow();
  }
  expect(fieldOf(wide, "Input").kind).toBe("json");
});

function countOf(field: ReturnType<typeof fieldOf>): number {
  if (field.kind === "list") return 1 + countOf(field.item);
  if (field.kind !== "group") return 1;
  return field.members.reduce((sum, each) => sum + countOf(each), 1);
}
