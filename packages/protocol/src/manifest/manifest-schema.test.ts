import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CAPABILITY_DEFAULTS, MANIFEST_LIMITS } from "./capability.ts";
import { WaybillError } from "../error.ts";
import { parseJson } from "../json/json.ts";
import { generateKey, privateKeyFrom } from "../signing/key.ts";
import { checkSchemas, parseManifest, readManifest } from "./manifest-schema.ts";

const FOUNDING = `{
  "agent_id": "research-agent-001",
  "capabilities": [
    {
      "name": "web_research",
      "input_schema": {"query": "string", "depth": "int"},
      "output_schema": {"sources": "array", "summary": "string"},
      "timeout_seconds": 300,
      "reliability_sla": 0.95
    }
  ],
  "discovery_endpoint": "https://agent-registry.example.com/research-agent-001"
}`;

const key = privateKeyFrom(new Uint8Array(32).fill(7));

function refusal(value: unknown): { status: number; at: string | undefined; message: string } {
  try {
    parseManifest(value);
  } catch (error) {
    if (!WaybillError.is(error)) throw error;
    return { status: error.status, at: error.at, message: error.message };
  }
  throw new Error("the manifest was not refused");
}

const withCapability = (members: object) => ({
  agent_id: "a",
  capabilities: [{ name: "x", ...members }],
});
const withKeys = (...keys: object[]) => ({ agent_id: "a", capabilities: [], keys });

test("the manifest of the founding document is valid unchanged", () => {
  expect(parseManifest(JSON.parse(FOUNDING))).toEqual({
    agent_id: "research-agent-001",
    capabilities: [
      {
        ...CAPABILITY_DEFAULTS,
        name: "web_research",
        input_schema: {
          type: "object",
          properties: { query: { type: "string" }, depth: { type: "integer" } },
          required: ["query", "depth"],
        },
        output_schema: {
          type: "object",
          properties: { sources: { type: "array" }, summary: { type: "string" } },
          required: ["sources", "summary"],
        },
        timeout_seconds: 300,
        reliability_sla: 0.95,
      },
    ],
    discovery_endpoint: "https://agent-registry.example.com/research-agent-001",
    keys: [],
    sequence: 1,
  });
});

test("every member of the design is read, and unknown ones are ignored", () => {
  const capability = {
    name: "org.example/summarise",
    version: "2.1",
    description: "Makes long texts short.",
    tags: ["text", "fast"],
    examples: [{ description: "one word", input: { text: "a a" }, output: "a" }],
    takes: "conversation",
    input_schema: { type: "object" },
    output_schema: true,
    effects: "none",
    timeout_seconds: 0.5,
    lease_seconds: 5,
    max_attempts: 1,
    concurrency: 4,
    max_input_bytes: 1000,
    reliability_sla: 1,
  };
  const manifest = {
    agent_id: "a",
    version: "7",
    description: "An agent.",
    keys: [
      {
        kid: key.kid,
        ...key.jwk,
        not_before: "2026-01-01T00:00:00Z",
        not_after: "2027-01-01T00:00:00.5Z",
        retired_at: "2026-06-01T00:00:00Z",
      },
    ],
    sequence: 2,
    previous: `sha256:${"0".repeat(64)}`,
  };
  const unknown = { colour: "blue" };
  expect(
    parseManifest({ ...manifest, ...unknown, capabilities: [{ ...capability, ...unknown }] }),
  ).toEqual({ ...manifest, capabilities: [capability] });
});

test("a key without its kid gets it, and keeps only its public members", () => {
  expect(parseManifest(withKeys({ ...key.jwk, use: "sig" })).keys).toEqual([
    { kid: key.kid, ...key.jwk },
  ]);
});

test("a parsed manifest parses again to the same", () => {
  const once = parseManifest(JSON.parse(FOUNDING));
  expect(parseManifest(once)).toEqual(once);
});

describe("refused", () => {
  test.each<[string, unknown, number, string | undefined]>([
    ["nothing", undefined, 400, ""],
    ["a string", "manifest", 400, ""],
    ["a list", [], 400, ""],
    ["no agent id", { capabilities: [] }, 400, "/agent_id"],
    ["a look-alike id", { agent_id: "Editor", capabilities: [] }, 400, "/agent_id"],
    ["no capabilities", { agent_id: "a" }, 400, "/capabilities"],
    ["an envelope", { agent_id: "a", capabilities: [], kind: "handoff" }, 400, "/kind"],
    ["another protocol", { agent_id: "a", capabilities: [], waybill: 2 }, 400, "/waybill"],
    ["a name in Unicode", withCapability({ name: "r\u0435search" }), 400, "/capabilities/0/name"],
    ["no time", withCapability({ timeout_seconds: 0 }), 400, "/capabilities/0/timeout_seconds"],
    [
      "all the time in the world",
      withCapability({ timeout_seconds: 1e12 }),
      400,
      "/capabilities/0/timeout_seconds",
    ],
    [
      "more than certainty",
      withCapability({ reliability_sla: 1.01 }),
      400,
      "/capabilities/0/reliability_sla",
    ],
    ["half an attempt", withCapability({ max_attempts: 1.5 }), 400, "/capabilities/0/max_attempts"],
    ["no attempt", withCapability({ max_attempts: 0 }), 400, "/capabilities/0/max_attempts"],
    ["a new shape", withCapability({ takes: "telepathy" }), 400, "/capabilities/0/takes"],
    [
      "too many tags",
      withCapability({ tags: Array.from({ length: 65 }, String) }),
      413,
      "/capabilities/0/tags",
    ],
    [
      "a novel",
      withCapability({ description: "x".repeat(MANIFEST_LIMITS.descriptionLength + 1) }),
      413,
      "/capabilities/0/description",
    ],
    [
      "too many capabilities",
      { agent_id: "a", capabilities: Array.from({ length: 257 }, (_, i) => ({ name: `x${i}` })) },
      413,
      "/capabilities",
    ],
    [
      "too many keys",
      withKeys(...Array.from({ length: MANIFEST_LIMITS.keys + 1 }, () => ({ kty: "OKP" }))),
      413,
      "/keys",
    ],
    [
      "the same capability twice",
      { agent_id: "a", capabilities: [{ name: "x" }, { name: "x", version: "1" }] },
      400,
      "/capabilities/1",
    ],
    [
      "a remote $ref",
      withCapability({ input_schema: { $ref: "http://169.254.169.254/" } }),
      400,
      "/capabilities/0/input_schema/$ref",
    ],
    [
      "a pattern that can't be run in linear time",
      withCapability({ output_schema: { type: "string", pattern: "(a)\\1" } }),
      400,
      "/capabilities/0/output_schema/pattern",
    ],
    [
      "an unknown word of the shorthand",
      withCapability({ input_schema: { query: "text!" } }),
      400,
      "/capabilities/0/input_schema/query",
    ],
    ["a sequence of 0", { agent_id: "a", capabilities: [], sequence: 0 }, 400, "/sequence"],
    [
      "a second one without the one before",
      { agent_id: "a", capabilities: [], sequence: 2 },
      400,
      "/previous",
    ],
    [
      "a first one that follows another",
      { agent_id: "a", capabilities: [], previous: `sha256:${"0".repeat(64)}` },
      400,
      "/previous",
    ],
    [
      "a previous that is no digest",
      { agent_id: "a", capabilities: [], sequence: 2, previous: "sha256:x" },
      400,
      "/previous",
    ],
    ["a private key", withKeys(key.privateJwk()), 400, "/keys/0/d"],
    ["a key of another curve", withKeys({ ...key.jwk, crv: "X25519" }), 401, "/keys/0/crv"],
    [
      "the identity as a key",
      withKeys({ ...key.jwk, x: "AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA" }),
      401,
      "/keys/0/x",
    ],
    ["somebody else's kid", withKeys({ ...key.jwk, kid: generateKey().kid }), 400, "/keys/0/kid"],
    ["a key twice", withKeys(key.jwk, key.jwk), 400, "/keys/1"],
    [
      "30 February",
      withKeys({ ...key.jwk, not_before: "2026-02-30T00:00:00Z" }),
      400,
      "/keys/0/not_before",
    ],
    [
      "an end before the start",
      withKeys({
        ...key.jwk,
        not_before: "2026-02-02T00:00:00Z",
        not_after: "2026-02-01T00:00:00Z",
      }),
      400,
      "/keys/0/not_after",
    ],
  ])("%s", (_what, value, status, at) => {
    expect(refusal(value)).toMatchObject({ status, at });
  });

  test.each([
    "ftp://example.com/",
    "javascript:alert(1)",
    "file:///etc/passwd",
    "//example.com/",
    "https://",
    "https://exa mple.com/",
    "https://example.com/\n",
    "https://ex\u0430mple.com/",
    `https://example.com/${"x".repeat(MANIFEST_LIMITS.urlLength)}`,
  ])("%j as discovery endpoint, or as inbox", (url) => {
    for (const member of ["discovery_endpoint", "inbox"]) {
      const { at } = refusal({ agent_id: "a", capabilities: [], [member]: url });
      expect(at).toBe(`/${member}`);
    }
  });

  test("a forbidden name anywhere", () => {
    const value = JSON.parse(
      '{"agent_id":"a","capabilities":[{"name":"x","examples":[{"input":{"__proto__":1}}]}]}',
    );
    expect(refusal(value).status).toBe(400);
  });

  test("a cyclic value", () => {
    const value: Record<string, unknown> = { agent_id: "a", capabilities: [] };
    value["self"] = value;
    expect(refusal(value).status).toBe(400);
  });

  test("unlimited nesting", () => {
    let deep: object = {};
    for (let level = 0; level < 10_000; level++) deep = { deep };
    expect(refusal({ agent_id: "a", capabilities: [], deep }).status).toBe(413);
  });
});

test("any input is a manifest or a WaybillError", () => {
  const valid = JSON.parse(FOUNDING) as Record<string, unknown>;
  const names = [
    "agent_id",
    "capabilities",
    "keys",
    "sequence",
    "previous",
    "discovery_endpoint",
    "inbox",
  ];
  fc.assert(
    fc.property(fc.constantFrom(...names), fc.anything(), fc.anything(), (name, value, member) => {
      for (const hostile of [
        value,
        { ...valid, [name]: value },
        withCapability({ input_schema: value, output_schema: member }),
        { agent_id: "a", capabilities: [], keys: [value, { ...key.jwk, kid: member }] },
      ]) {
        try {
          parseManifest(hostile);
        } catch (error) {
          if (!WaybillError.is(error)) throw error;
          expect([400, 401, 413]).toContain(error.status);
        }
      }
    }),
    { numRuns: 300 },
  );
});

describe("the schemas of one manifest together", () => {
  const capabilities = (count: number, schema: (index: number) => object) => ({
    agent_id: "a",
    capabilities: Array.from({ length: count }, (_, index) => ({
      name: `c${index}`,
      input_schema: { $schema: "https://json-schema.org/draft/2020-12/schema", ...schema(index) },
    })),
  });
  const wide = (count: number): object => ({ anyOf: Array.from({ length: count }, () => true) });

  test.each<[string, object, RegExp]>([
    ["schemas", capabilities(3, () => wide(9_000)), /more than 20000 schemas/],
    [
      "pattern instructions",
      capabilities(30, (index) => ({ pattern: `^(a{900}){5}${index}` })),
      /more than 100000 pattern instructions/,
    ],
    [
      "characters",
      capabilities(4, () => ({ enum: Array.from({ length: 90_000 }, () => 1) })),
      /more than 2097152 characters/,
    ],
  ])("are refused with 413 for too many %s", (_, manifest, reason) => {
    const { status, at, message } = refusal(manifest);
    expect([status, message]).toEqual([413, expect.stringMatching(reason)]);
    expect(at).toMatch(/^\/capabilities\/\d+\/input_schema/);
  });

  test("may be many if they are ordinary", () => {
    const ordinary = (index: number) => ({
      type: "object",
      properties: { id: { type: "string", pattern: "^[a-z]{1,20}$" }, n: { minimum: index } },
    });
    expect(parseManifest(capabilities(256, ordinary)).capabilities).toHaveLength(256);
  });

  test("are checked in slices, so that the caller can do other work", () => {
    const manifest = capabilities(3, (index) => (index === 2 ? { type: "nothing" } : wide(5)));
    const { capabilities: read } = readManifest(
      parseJson(JSON.stringify(manifest)),
      "known",
    ).manifest;
    const slices = checkSchemas(read);
    let count = 0;
    expect(() => {
      while (slices.next().done !== true) count += 1;
    }).toThrow(/c2 is refused/);
    expect(count).toBe(4);
  });
});
