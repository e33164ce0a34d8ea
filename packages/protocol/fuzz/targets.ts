import * as waybill from "@waybill/protocol";
import type { Digest, Envelope, HandoffEnvelope, KeyRecord, StatusCode } from "@waybill/protocol";
import { mutate, mutateTree } from "./mutate.ts";
import type { Random } from "./random.ts";

/** A reader of untrusted bytes, with inputs that are made from a valid one and then changed. */
export interface Target {
  readonly name: string;
  /** The statuses that a refusal may have; anything else thrown is a defect. */
  readonly statuses: readonly StatusCode[];
  /** How often it is drawn: targets with a signature check are drawn less. */
  readonly weight: number;
  make(random: Random): string;
  read(text: string): void;
}

const AT = Date.parse("2026-11-18T08:00:00.000Z");
const key = waybill.privateKeyFrom(new Uint8Array(32).fill(7));
const record: KeyRecord = {
  agent: "editor",
  key: waybill.publicKeyFrom(key.jwk),
  notBefore: -Infinity,
  notAfter: Infinity,
};
const keyOf = (kid: string): KeyRecord | undefined => (kid === key.kid ? record : undefined);

let made = 0;
const source = {
  now: () => AT,
  newId: () => `01980000-0000-7000-8000-${(made++).toString(16).padStart(12, "0")}`,
};
const handoff: HandoffEnvelope = waybill.createHandoff(
  {
    from: "editor",
    domain: key.kid,
    to: "researcher",
    timeoutMs: 60_000,
    group: { id: source.newId(), index: 1, size: 3, join: "quorum", quorum: 2 },
    traceparent: `00-${"a".repeat(32)}-${"b".repeat(16)}-01`,
    body: {
      capability: "web_research",
      version: "1",
      input: { query: "waybills", depth: 3, deep: { list: [1, 2.5, null, true, "é\n"] } },
      brief: { instruction: "Find out", expected_output: "A page" },
      messages: [{ role: "user", name: "Ann", content: [{ type: "text", text: "hello" }] }],
      artifacts: [
        { name: "a.txt", media_type: "text/plain", digest: waybill.digestOf("a"), data: "YQ" },
      ],
      contract: { timeout_seconds: 60, lease_seconds: 5, max_attempts: 2 },
      metadata: { tenant: "t" },
    },
  },
  source,
);
const re: Digest = waybill.digestOf("the handoff");
const mine = { from: "editor", attempt: 1, re };
const replies: Envelope[] = [
  waybill.createReply(
    handoff,
    { kind: "cancel", from: "editor", body: { reason: "enough" } },
    source,
  ),
  waybill.createReply(
    handoff,
    { kind: "answer", from: "editor", re, body: { question_id: "q", answer: [1] } },
    source,
  ),
  waybill.createReply(
    handoff,
    { kind: "receipt", ...mine, body: { status: 406, counter: { max_attempts: 1 } } },
    source,
  ),
  waybill.createReply(
    handoff,
    { kind: "progress", ...mine, body: { fraction: 0.5, message: "half" } },
    source,
  ),
  waybill.createReply(
    handoff,
    { kind: "question", ...mine, body: { questions: [{ id: "q", text: "Which?" }], state: "s" } },
    source,
  ),
  waybill.createReply(
    handoff,
    { kind: "result", ...mine, body: { status: 500, error: { message: "no" } } },
    source,
  ),
  waybill.createReply(
    handoff,
    { kind: "notice", from: "editor", re, body: { status: 504, reason: "late" } },
    source,
  ),
];
const payloads = [handoff, ...replies].map((envelope) => JSON.stringify(envelope));
const compacts = [
  ...[handoff, ...replies].map((envelope) => waybill.signEnvelope(envelope, key)),
  ...waybill.signEnvelopes([handoff, ...replies], key).map(({ text }) => text),
];
const manifest = {
  agent_id: "editor",
  description: "Edits",
  capabilities: [
    {
      name: "web_research",
      version: "1.2",
      tags: ["web"],
      input_schema: { query: "string", depth: "int?", tags: "string[]" },
      output_schema: {
        type: "object",
        properties: { sources: { type: "array", items: { $ref: "#/$defs/s" } } },
        $defs: { s: { type: "string", pattern: "^(a|b)+c{1,3}$" } },
      },
      timeout_seconds: 300,
      reliability_sla: 0.95,
    },
  ],
  discovery_endpoint: "https://agent-registry.example.com/editor",
  inbox: "https://editor.example.com/waybill",
  keys: [{ ...key.jwk, not_before: "2026-01-01T00:00:00Z" }],
};
const manifestText = waybill.signManifest(manifest, key);
const manifestPayload = JSON.stringify({ waybill: 1, kind: "manifest", sequence: 1, ...manifest });
const schemas = [
  '{"type":"object","properties":{"a":{"type":"string","pattern":"^[a-z]+(-[0-9]{1,4})?$"},"b":{"$ref":"#/$defs/n"}},"required":["a"],"$defs":{"n":{"type":"integer","minimum":0}},"additionalProperties":false}',
  '{"anyOf":[{"type":"string","minLength":1},{"type":"array","items":{"$ref":"#"},"uniqueItems":true}]}',
  '{"query":"string","depth":"int?","nested":{"list":"number[]"}}',
  '{"oneOf":[{"const":1},{"enum":[1,2,"x"]},{"not":{"type":"null"}}],"unevaluatedProperties":false,"if":{"type":"object"},"then":{"minProperties":1}}',
];
const values = [
  '{"a":"ab-12","b":3}',
  '[["x"],"y",[]]',
  '{"query":"q","nested":{"list":[1]}}',
  "1",
  '"x"',
];

/** Changes the tree, the text, or both; occasionally nothing, so that success is exercised too. */
function changed(json: string, random: Random): string {
  const tree = random.below(3) > 0 ? mutateTree(json, random) : json;
  return random.below(3) > 0 ? tree : mutate(tree, random);
}

const WIRE = [400, 401, 403, 413] as const;

export const TARGETS: readonly Target[] = [
  {
    name: "compact strings, changed in transit",
    statuses: WIRE,
    weight: 6,
    make: (random) => mutate(random.pick(compacts), random),
    read: (text) => void waybill.verifyEnvelope(text, { keyOf, at: AT, to: "researcher" }),
  },
  {
    name: "payloads that a member has signed",
    statuses: WIRE,
    weight: 2,
    make: (random) =>
      waybill.signCompact(changed(random.pick(payloads), random).toWellFormed(), key),
    read: (text) => void waybill.verifyEnvelope(text, { keyOf, at: AT }),
  },
  {
    name: "payloads",
    statuses: [400, 413],
    weight: 6,
    make: (random) => changed(random.pick(payloads), random),
    read: (text) => void waybill.parseEnvelope(text),
  },
  {
    name: "JSON, read and written back",
    statuses: [400, 413],
    weight: 4,
    make: (random) => changed(random.pick([...payloads, ...schemas, ...values]), random),
    read: (text) => {
      const value = waybill.parseJson(text);
      const again = waybill.parseJson(waybill.stringifyJson(value));
      if (JSON.stringify(again) !== JSON.stringify(value))
        throw new Error("does not read back the same");
    },
  },
  {
    name: "signed manifests, changed in transit",
    statuses: [400, 401, 409, 413],
    weight: 1,
    make: (random) => mutate(manifestText, random),
    read: (text) => void waybill.verifyManifest(text, { at: AT }),
  },
  {
    name: "manifests that an agent has signed",
    statuses: [400, 401, 409, 413],
    weight: 1,
    make: (random) => waybill.signCompact(changed(manifestPayload, random).toWellFormed(), key),
    read: (text) => void waybill.verifyManifest(text, { at: AT }),
  },
  {
    name: "schemas, with values to check",
    statuses: [400, 413],
    weight: 3,
    make: (random) =>
      `${changed(random.pick(schemas), random)}\n${changed(random.pick(values), random)}`,
    read: (text) => {
      const [schema, ...value] = text.split("\n");
      const compiled = waybill.compileSchema(waybill.normalizeSchema(waybill.parseJson(schema!)));
      compiled.check(waybill.parseJson(value.join("\n")));
    },
  },
];
