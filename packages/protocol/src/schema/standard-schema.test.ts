import { describe, expect, it } from "vitest";
import * as z from "zod";
import * as mini from "zod/mini";
import { WaybillError } from "../error.ts";
import { compileSchema } from "./schema.ts";
import { schemaFrom } from "./standard-schema.ts";

function errorOf(action: () => unknown): WaybillError {
  try {
    action();
  } catch (error) {
    if (WaybillError.is(error)) return error;
  }
  throw new Error("expected a WaybillError");
}

describe("schemaFrom", () => {
  it("derives the schema of zod, for its input and its output", () => {
    const schema = z.object({
      query: z.string().min(1),
      depth: z.int().default(3),
      kind: z.enum(["web", "paper"]).optional(),
      size: z
        .string()
        .transform((text) => text.length)
        .pipe(z.number()),
    });
    const input = compileSchema(schemaFrom(schema));
    expect(input.check({ query: "x", size: "abc" })).toEqual([]);
    expect(input.check({ query: "", kind: "other", size: 3 }).map(({ at }) => at)).toEqual([
      "/query",
      "/kind",
      "/size",
    ]);
    const output = compileSchema(schemaFrom(schema, "output"));
    expect(output.check({ query: "x", depth: 3, size: 3 })).toEqual([]);
    expect(output.check({ query: "x", size: "abc" }).map(({ at }) => at)).toEqual(["", "/size"]);
  });

  it("derives the schema of zod mini, which does not offer it itself", () => {
    const compiled = compileSchema(schemaFrom(mini.object({ a: mini.optional(mini.string()) })));
    expect(compiled.check({})).toEqual([]);
    expect(compiled.check({ a: 1 })).toHaveLength(1);
  });

  it("agrees with zod on shapes that refer to themselves, unions and records", () => {
    const node = z.object({
      kind: z.literal("node"),
      get children(): z.ZodArray<z.ZodUnion<[typeof leaf, typeof node]>> {
        return z.array(z.union([leaf, node]));
      },
    });
    const leaf = z.object({
      kind: z.literal("leaf"),
      values: z.record(z.string().regex(/^k/), z.tuple([z.string(), z.number()])),
    });
    const compiled = compileSchema(schemaFrom(node));
    const inputs: unknown[] = [
      { kind: "node", children: [] },
      {
        kind: "node",
        children: [
          { kind: "leaf", values: { k1: ["a", 1] } },
          { kind: "node", children: [] },
        ],
      },
      { kind: "node", children: [{ kind: "leaf", values: { x: ["a", 1] } }] },
      { kind: "node", children: [{ kind: "leaf", values: { k: ["a"] } }] },
      { kind: "node", children: [{ kind: "node" }] },
      { kind: "leaf", values: {} },
      null,
    ];
    for (const input of inputs) {
      expect([input, compiled.check(input).length === 0]).toEqual([
        input,
        node.safeParse(input).success,
      ]);
    }
  });

  it("keeps every format of zod, with its pattern if that can be matched in linear time", () => {
    const formats = {
      uuid: z.uuid(),
      email: z.email(),
      url: z.url(),
      ipv4: z.ipv4(),
      ipv6: z.ipv6(),
      cidrv6: z.cidrv6(),
      base64: z.base64(),
      base64url: z.base64url(),
      e164: z.e164(),
      datetime: z.iso.datetime(),
      date: z.iso.date(),
      time: z.iso.time(),
      duration: z.iso.duration(),
      hostname: z.hostname(),
      emoji: z.emoji(),
      nanoid: z.nanoid(),
      cuid2: z.cuid2(),
      ulid: z.ulid(),
      jwt: z.jwt(),
      mac: z.mac(),
    };
    const schema = schemaFrom(z.object(formats)) as {
      properties: Record<string, { pattern?: string; format: string }>;
    };
    compileSchema(schema);
    const { uuid, duration, hostname, emoji } = schema.properties;
    expect([uuid?.pattern, duration?.pattern, hostname?.pattern, emoji?.pattern]).toEqual([
      expect.any(String),
      undefined,
      undefined,
      undefined,
    ]);
    expect(duration?.format).toBe("duration");
  });

  it("keeps a pattern without an equivalent format, so that it is refused and not lost", () => {
    const schema = schemaFrom(z.object({ a: z.string().regex(/^(?!b)/) }));
    expect(errorOf(() => compileSchema(schema))).toMatchObject({
      status: 400,
      at: "/properties/a/pattern",
    });
  });

  it("says which part of a zod schema has no JSON Schema", () => {
    const error = errorOf(() => schemaFrom(z.object({ when: z.date() })));
    expect(error.status).toBe(400);
    expect(error.message).toMatch(/zod.*Date/);
    expect(error.cause).toBeInstanceOf(Error);
  });

  /** The form of another library's schema: only the marked member is used. */
  const standard = (jsonSchema?: unknown): object => ({
    "~standard": {
      version: 1,
      vendor: "acme",
      validate: () => ({ value: 1 }),
      ...(jsonSchema === undefined ? {} : { jsonSchema }),
    },
  });

  it("asks any library with Standard JSON Schema, for the right side and draft", () => {
    const asked: unknown[] = [];
    const source = standard({
      input: (options: unknown) => {
        asked.push(options);
        return { type: "string" };
      },
      output: (options: unknown) => {
        asked.push(options);
        return { type: "number" };
      },
    });
    expect(schemaFrom(source)).toEqual({ type: "string" });
    expect(schemaFrom(source, "output")).toEqual({ type: "number" });
    expect(asked).toEqual([{ target: "draft-2020-12" }, { target: "draft-2020-12" }]);
  });

  it("accepts schemas that are functions", () => {
    const source = Object.assign(
      () => undefined,
      standard({ input: () => true, output: () => false }),
    );
    expect(schemaFrom(source)).toBe(true);
    expect(schemaFrom(source, "output")).toBe(false);
  });

  it.each<[string, unknown, RegExp]>([
    ["a Standard Schema without JSON Schema", standard(), /acme.*pass a zod 4 schema/],
    ["one whose offer is broken", standard({ input: "no" }), /acme/],
    [
      "one that throws",
      standard({
        input: () => {
          throw new Error("no dates");
        },
      }),
      /no dates/,
    ],
    ["one that gives no schema", standard({ input: () => "string" }), /gave no JSON Schema/],
    ["a function", () => undefined, /a function is not a schema/],
    ["nothing", undefined, /nothing is not a schema/],
    ["a number", 5, /is 5/],
    ["a date", { when: new Date(0).getTime() }, /is 0/],
  ])("refuses with 400 and says what to pass: %s", (_, source, reason) => {
    const error = errorOf(() => schemaFrom(source));
    expect(error.status).toBe(400);
    expect(error.message).toMatch(reason);
  });

  it("passes JSON Schema through and reads shorthand", () => {
    const schema = { type: "object", properties: { a: { type: "string" } } };
    expect(schemaFrom(schema)).toBe(schema);
    expect(schemaFrom({ a: "string?" })).toEqual({
      type: "object",
      properties: { a: { type: "string" } },
      required: [],
    });
  });
});
