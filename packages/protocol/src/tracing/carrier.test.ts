import { expect, test } from "vitest";
import { createHandoff } from "../envelope/create.ts";
import { checkEnvelope } from "../envelope/verify-envelope.ts";
import { newId } from "../id.ts";
import { traceparentOf, tracePlaceOf } from "./carrier.ts";

test("a span context becomes a valid member of an envelope, and is read back unchanged", () => {
  for (const traceFlags of [0, 1, 0xff]) {
    const place = { traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331" };
    const traceparent = traceparentOf({ ...place, traceFlags });
    const envelope = createHandoff({
      from: "owner",
      domain: "A".repeat(43),
      body: { capability: "work" },
      timeoutMs: 1_000,
      handoffId: newId(),
      traceparent,
    });
    expect(checkEnvelope(envelope)).toMatchObject({ traceparent });
    expect(tracePlaceOf(envelope)).toEqual({ ...place, traceFlags });
  }
  expect(tracePlaceOf({})).toBeUndefined();
});
