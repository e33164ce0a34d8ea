import { createHandoff, generateKey, signEnvelope, verifyEnvelope } from "@waybill/protocol";
import { expect, test } from "vitest";
import { ENVELOPE_BYTES, handoffInputs, POOL, trusting } from "./envelopes.ts";

test("the handoffs have 1 KiB each, differ, and verify", () => {
  const key = generateKey();
  const texts = handoffInputs(key).map((input) => signEnvelope(createHandoff(input), key));
  for (const text of texts) {
    verifyEnvelope(text, trusting(key));
    // Base64 encodes groups of three bytes, so the size is exact only to four characters.
    expect(ENVELOPE_BYTES - text.length).toBeLessThan(4);
    expect(text.length).toBeLessThanOrEqual(ENVELOPE_BYTES);
  }
  const payloads = texts.map((text) =>
    JSON.parse(atob(text.split(".")[1]!.replaceAll("-", "+").replaceAll("_", "/"))),
  );
  expect(new Set(payloads.map((each) => each.body.input.question)).size).toBe(POOL);
});
