import { expect, test } from "vitest";
import { checkHistory } from "../audit.ts";
import { HistoryWriter, HUB } from "../history/history-fixture.ts";
import { eventOf } from "../hub.ts";
import { newId } from "../index.ts";
import type { Digest, ListedHandoff, ReceiptEnvelope } from "../index.ts";
import { NOW, RE, readWith, refusal, statusOf } from "./rules-fixture.ts";

const OTHER: Digest = `sha256:${"d".repeat(64)}`;

function listing(also: readonly ListedHandoff[]) {
  return () => readWith("receipt", { attempt: undefined, body: { status: 100, also } });
}

const handoffs = (count: number): ListedHandoff[] =>
  Array.from({ length: count }, () => ({ handoff_id: newId(), re: RE }));

test("WB-108 a custody receipt lists further envelopes, within the limits of every list", () => {
  const at = "/body/also";
  expect(statusOf(listing(handoffs(64)))).toBe("taken");
  expect(refusal(listing(handoffs(65)))).toEqual({ status: 413, at });
  const [one] = handoffs(1) as [ListedHandoff];
  expect(refusal(listing([one, { ...one, re: OTHER }]))).toEqual({ status: 400, at });
});

test("WB-108 a custody receipt for several causes nothing by itself", () => {
  const { envelope, digest } = listing(handoffs(2))();
  expect(eventOf(envelope, digest, NOW)).toBeUndefined();
});

/** Two handoffs of the same delegator, and a custody receipt for both. */
function confirming() {
  const writer = new HistoryWriter();
  for (const id of ["one", "two"]) writer.submit(id);
  const digestOf = (id: string) => writer.states.get(id)!.digest;
  const receipt = (named: Partial<ListedHandoff> = {}): ReceiptEnvelope => ({
    ...writer.about("one", HUB),
    kind: "receipt",
    to: "d",
    re: digestOf("one"),
    body: { status: 100, also: [{ handoff_id: "two", re: digestOf("two"), ...named }] },
  });
  const rules = () => checkHistory(writer.entries, { hub: HUB }).violations.map(({ rule }) => rule);
  return { writer, receipt, digestOf, rules };
}

test("WB-108 each envelope that a receipt names is in the history of the handoff that it names", () => {
  const { writer, receipt, digestOf, rules } = confirming();
  writer.send(receipt());
  expect(rules()).toEqual([]);
  writer.send(receipt({ re: OTHER }));
  expect(rules()).toEqual(["custody_without_envelope"]);
  writer.send(receipt({ handoff_id: "three" }));
  writer.send(receipt({ handoff_id: "three", re: digestOf("one") }));
  expect(rules()).toEqual(Array(3).fill("custody_without_envelope"));
});

test("WB-108 only the hub confirms several", () => {
  const { writer, receipt, rules } = confirming();
  writer.send({ ...receipt(), from: "r" });
  expect(rules()).toEqual(["custody_not_by_hub"]);
});

test("WB-109 a receipt for several confirms the envelopes of its reader alone", () => {
  const { writer, receipt, rules } = confirming();
  writer.hub("two", { type: "offer", recipient: "r" });
  writer.receipt("two", { status: 101 });
  const acceptance = writer.entries.at(-1)!;
  if (acceptance.type !== "envelope") throw new Error("the acceptance is not there");
  writer.send(receipt({ re: acceptance.digest }));
  expect(rules()).toEqual(["addressed_to_another"]);
});
