import {
  createHandoff,
  createReply,
  digestOfJws,
  generateKey,
  publicKeyFrom,
  signEnvelope,
  verifyEnvelope,
  WaybillError,
} from "@waybill/protocol";
import { expect, test } from "vitest";
import { VirtualClock } from "../world-fixture.ts";
import { ReceiptChecks } from "./receipt-checks.ts";

const key = generateKey();
const handoff = createHandoff({
  from: "owner",
  domain: key.kid,
  to: "worker",
  body: { capability: "work" },
  timeoutMs: 60_000,
});
const receiptFor = (text: string) =>
  signEnvelope(
    createReply(handoff, {
      kind: "receipt",
      from: "hub",
      re: digestOfJws(text),
      body: { status: 100 },
    }),
    key,
  );

/** Checks with the hub's key, and the receipts that were verified. */
function checking(knownAfter = 0) {
  const clock = new VirtualClock();
  const verified: string[] = [];
  const record = {
    agent: "hub",
    key: publicKeyFrom(key.jwk),
    notBefore: 0,
    notAfter: Infinity,
  };
  const peers = {
    verify: async (text: string) => {
      verified.push(text);
      const keyOf = () => (verified.length > knownAfter ? record : undefined);
      return verifyEnvelope(text, { keyOf, at: clock.now() });
    },
  };
  return { checks: new ReceiptChecks({ id: "owner", clock, peers }), verified, clock };
}

test("a receipt that answers several envelopes in a row is verified once", async () => {
  const { checks, verified, clock } = checking();
  const text = signEnvelope(handoff, key);
  const [one, other] = [receiptFor(text), receiptFor(text)];
  const found = await Promise.all([one, one, one, other].map((each) => checks.verify(each)));
  expect(found.map((each) => each.text)).toEqual([one, one, one, other]);
  expect(verified).toEqual([one, other]);
  await checks.verify(other);
  await clock.advance(1_000);
  await checks.verify(other);
  expect(verified).toEqual([one, other, other]);
});

test("a receipt that could not be verified is verified at the next try", async () => {
  const { checks, verified } = checking(1);
  const receipt = receiptFor(signEnvelope(handoff, key));
  const refused: unknown = await checks.verify(receipt).catch((error: unknown) => error);
  expect(WaybillError.from(refused).status).toBe(401);
  expect((await checks.verify(receipt)).text).toBe(receipt);
  expect(verified).toEqual([receipt, receipt]);
});
