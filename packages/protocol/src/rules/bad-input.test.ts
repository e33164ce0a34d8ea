/// <reference types="node" />
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  compileSchema,
  isStatusCode,
  normalizeSchema,
  parseEnvelope,
  parseJson,
  parseManifest,
  publicKeyFrom,
  signEnvelopes,
  signManifest,
  verifyManifest,
  WaybillError,
} from "../index.ts";
import { base64url, EDITOR, editor, handoff, NOW, seal, SOUND, verify } from "./rules-fixture.ts";

const MANIFEST = signManifest({ agent_id: EDITOR, capabilities: [{ name: "edit" }] }, editor);

const READERS: Record<string, (input: never) => unknown> = {
  verifyEnvelope: (input) => verify(input),
  verifyManifest: (input) => verifyManifest(input, { at: NOW }),
  parseEnvelope,
  parseJson,
  parseManifest,
  publicKeyFrom,
  normalizeSchema,
  compileSchema,
};

/** Fails for anything a reader throws that has no status of the table. */
function expectVerdict(reader: string, input: unknown): void {
  try {
    READERS[reader]!(input as never);
  } catch (error) {
    const isStatus = WaybillError.is(error) && isStatusCode(error.status) && error.status >= 400;
    expect(isStatus, `${reader} threw ${String(error)}`).toBe(true);
  }
}

const ENVELOPES = Object.values(SOUND).map((envelope) => JSON.stringify(envelope));
const TEXTS = [
  ...ENVELOPES,
  ...ENVELOPES.map((payload) => seal(payload)),
  ...signEnvelopes([handoff(), handoff(), handoff()], editor).map(({ text }) => text),
  MANIFEST,
  Buffer.from(MANIFEST.split(".")[1]!, "base64url").toString(),
];

/** A valid text with a piece removed, doubled or replaced. */
const mutated = fc
  .tuple(
    fc.constantFrom(...TEXTS),
    fc.nat(),
    fc.nat({ max: 40 }),
    fc.string({ maxLength: 8 }),
    fc.boolean(),
  )
  .map(([text, place, length, piece, isDoubled]) => {
    const at = place % (text.length + 1);
    const middle = isDoubled ? text.slice(at, at + length).repeat(2) : piece;
    return text.slice(0, at) + middle + text.slice(at + length);
  });

test("WB-75 for any text a reader succeeds or answers with a status of the table", () => {
  const strings = fc.oneof(
    mutated,
    mutated.map((payload) => seal(payload)),
    fc.string(),
    fc.json(),
  );
  fc.assert(
    fc.property(strings, (text) => {
      for (const reader of ["verifyEnvelope", "verifyManifest", "parseEnvelope", "parseJson"]) {
        expectVerdict(reader, text);
      }
    }),
    { numRuns: 500 },
  );
  const bytes = fc.uint8Array({ maxLength: 200 });
  fc.assert(
    fc.property(bytes, bytes, (payload, signature) => {
      expectVerdict("verifyEnvelope", seal(payload));
      const [header] = seal("{}").split(".");
      const text = `${header}.${base64url(payload)}.${base64url(signature)}`;
      expectVerdict("verifyEnvelope", text);
      expectVerdict("verifyManifest", text);
    }),
    { numRuns: 200 },
  );
});

test("WB-75 for any value a reader succeeds or answers with a status of the table", () => {
  fc.assert(
    fc.property(fc.anything({ withBigInt: true, withDate: true, withMap: true }), (value) => {
      for (const reader of Object.keys(READERS)) expectVerdict(reader, value);
    }),
    { numRuns: 500 },
  );
});

test("WB-75 large, deep or costly input is answered within the limits", () => {
  const million = 1_048_576;
  const large = [
    "[".repeat(million),
    '{"a":'.repeat(million / 5),
    `"${"\\u0061".repeat(million / 6 - 1)}"`,
    `[${"0,".repeat(million / 2 - 2)}0]`,
    `{${Array.from({ length: 80_000 }, (_, index) => `"k${index}":0`).join()}}`,
    "9".repeat(million),
    "e30.".repeat(million / 4),
    ".".repeat(million),
    "-".repeat(million),
  ];
  for (const text of large) {
    for (const reader of ["verifyEnvelope", "verifyManifest", "parseEnvelope", "parseJson"]) {
      expectVerdict(reader, text);
      if (text.length < 700_000) expectVerdict(reader, seal(text));
    }
  }
  let deep: unknown = 1;
  for (let level = 0; level < 100_000; level++) deep = [deep];
  const circle: Record<string, unknown> = { type: "object" };
  circle["properties"] = { self: circle };
  for (const value of [deep, circle]) {
    for (const reader of ["parseManifest", "normalizeSchema", "compileSchema"])
      expectVerdict(reader, value);
  }
});
