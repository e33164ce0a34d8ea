import { createHandoff, generateKey, signEnvelope, verifyEnvelope } from "@waybill/protocol";
import { expect, test } from "vitest";
import { handoffInputs, PAYLOAD_BYTES, POOL, trusting } from "./envelopes.ts";

test("the handoffs are of 1 KiB, all different, and verify", () => {
  const key = generateKey();
  const payloads = handoffInputs().map((input) => {
    const text = signEnvelope(createHandoff(input), key);
    verifyEnvelope(text, trusting(key));
    return atob(text.split(".")[1]!.replaceAll("-", "+").replaceAll("_", "/"));
  });
  expect(new Set(payloads.map(({ length }) => length))).toEqual(new Set([PAYLOAD_BYTES]));
  expect(new Set(payloads.map((each) => JSON.parse(each).body.input.question)).size).toBe(POOL);
});
