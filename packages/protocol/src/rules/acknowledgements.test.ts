import { expect, test } from "vitest";
import { checkHistory } from "../audit.ts";
import { HistoryWriter, HUB } from "../history/history-fixture.ts";
import { eventOf } from "../hub.ts";
import { LIMITS, newId } from "../index.ts";
import type { ListedHandoff, Digest, ReceiptEnvelope } from "../index.ts";
import { NOW, RE, readWith, refusal, statusOf } from "./rules-fixture.ts";

const OTHER: Digest = `sha256:${"d".repeat(64)}`;
const AT = "/body/also";

function handoffs(count: number): ListedHandoff[] {
  return Array.from({ length: count }, () => ({ handoff_id: newId(), re: RE }));
}

function reading(also: unknown, members: object = {}) {
  return () => readWith("receipt", { attempt: undefined, body: { status: 200, also }, ...members });
}

test("WB-106 an acknowledgement lists at most 64 further handoffs; otherwise 413", () => {
  expect(LIMITS.alsoListed).toBe(64);
  expect(statusOf(reading(handoffs(1)))).toBe("taken");
  expect(statusOf(reading(handoffs(64)))).toBe("taken");
  expect(refusal(reading(handoffs(65)))).toEqual({ status: 413, at: AT });
});

test("WB-106 only a receipt of status 100 or 200 has a list; otherwise 400", () => {
  for (const status of [101, 201, 300, 422]) {
    const body = { status, also: handoffs(1) };
    expect(refusal(reading([], { body })), `${status}`).toEqual({ status: 400, at: AT });
  }
});

test("WB-106 a list names each handoff once, with a digest, and not that of the envelope; otherwise 400", () => {
  const [one, other] = handoffs(2) as [ListedHandoff, ListedHandoff];
  const own = newId();
  expect(statusOf(reading([one, other], { handoff_id: own }))).toBe("taken");
  const wrong: unknown[] = [
    [],
    one,
    [one, one],
    [one, other, { ...one, re: OTHER }],
    [{ ...one, handoff_id: own }],
    [{ handoff_id: one.handoff_id }],
    [{ re: RE }],
    [{ ...one, re: "sha256:1" }],
    [{ ...one, handoff_id: "h" }],
    [one.handoff_id],
  ];
  for (const also of wrong) {
    expect(statusOf(reading(also, { handoff_id: own })), JSON.stringify(also)).toBe(400);
  }
});

test("WB-107 an acknowledgement of several causes nothing by itself", () => {
  const { envelope, digest } = reading(handoffs(1))();
  expect(eventOf(envelope, digest, NOW)).toBeUndefined();
});

/** Three handoffs that have ended, and an acknowledgement of the first two by `from`. */
function acknowledging(from = "d") {
  const writer = new HistoryWriter();
  for (const id of ["one", "two", "three"]) {
    writer.submit(id);
    writer.hub(id, { type: "offer", recipient: "r" });
    writer.result(id);
  }
  const outcomeOf = (id: string) => writer.states.get(id)!.outcome!;
  const also = [{ handoff_id: "two", re: outcomeOf("two") }];
  const body = { status: 200, also } as const;
  const receipt = { kind: "receipt", re: outcomeOf("one"), body } as const;
  const list: ReceiptEnvelope = { ...writer.ofDelegator("one"), ...receipt, from };
  const digest = writer.digest();
  writer.send(list, digest);
  const acknowledged = (id: string, outcome = outcomeOf(id)) =>
    writer.hub(id, { type: "acknowledge", by: "d", outcome, in: digest });
  const confirm = (re: Digest) =>
    writer.send({ ...list, kind: "receipt", from: HUB, to: "d", re, body: { status: 100 } });
  const rules = () => checkHistory(writer.entries, { hub: HUB }).violations.map(({ rule }) => rule);
  return { writer, list, digest, acknowledged, confirm, rules };
}

test("WB-107 each handoff of a list is acknowledged by an event of its own", () => {
  const { writer, digest, acknowledged, confirm, rules } = acknowledging();
  acknowledged("two");
  expect(writer.states.get("one")).toMatchObject({ isAcknowledged: false });
  expect(writer.states.get("two")).toMatchObject({ isAcknowledged: true });
  acknowledged("one");
  confirm(digest);
  expect(rules()).toEqual([]);
  acknowledged("one");
  expect(rules()).toEqual(["event_refused"]);
});

test("WB-107 an event of another handoff, end or delegator than the list names is found in the history", () => {
  const found = ["acknowledged_without_envelope"];
  const unlisted = acknowledging();
  unlisted.acknowledged("three");
  expect(unlisted.rules()).toEqual(found);
  const ofAnother = acknowledging();
  ofAnother.acknowledged("three", ofAnother.list.re);
  expect(ofAnother.rules()).toEqual(found);
  const otherEnd = acknowledging();
  otherEnd.acknowledged("two", otherEnd.list.re);
  expect(otherEnd.rules()).toEqual(found);
  const stranger = acknowledging("x");
  stranger.acknowledged("one");
  stranger.acknowledged("two");
  expect(stranger.rules()).toEqual([...found, ...found]);
});

test("WB-107 a receipt for a list that is not on record is found in the history", () => {
  const { confirm, rules } = acknowledging();
  confirm(OTHER);
  expect(rules()).toEqual(["custody_without_envelope"]);
});
