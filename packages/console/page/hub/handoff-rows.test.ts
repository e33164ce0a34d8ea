import type { WireEntry } from "@waybill/protocol/wire";
import { expect, test } from "vitest";
import { HandoffRows } from "./handoff-rows.ts";

function entry(id: string, given: Pick<WireEntry, "type" | "content">): WireEntry {
  const digest = `sha256:${"0".repeat(64)}` as const;
  const at = new Date(0).toISOString();
  return { sequence: 1, at, handoff_id: id, id: null, from: null, digest, hash: digest, ...given };
}

function handedOff(id: string): WireEntry {
  const payload = {
    kind: "handoff",
    from: "editor",
    to: "anna",
    correlation_id: id,
    deadline: new Date(0).toISOString(),
    body: { capability: "review" },
  };
  const encoded = Buffer.from(JSON.stringify(payload)).toString("base64url");
  return entry(id, { type: "envelope", content: `.${encoded}.` });
}

function decided(id: string, decision: object): WireEntry {
  return entry(id, { type: "decision", content: JSON.stringify(decision) });
}

function idsOf(rows: HandoffRows): readonly string[] {
  return rows.all().map(({ id }) => id);
}

test("the newest stay, in their order, and only they are counted", () => {
  const rows = new HandoffRows(3);
  for (let number = 0; number < 20; number++) {
    const id = `handoff ${number}`;
    rows.take(handedOff(id));
    if (number % 2 === 0) rows.take(decided(id, { type: "expire" }));
    const ids = Array.from({ length: Math.min(3, number + 1) }, (_, back) => number - back);
    expect(idsOf(rows)).toEqual(ids.toReversed().map((each) => `handoff ${each}`));
    const dead = ids.filter((each) => each % 2 === 0).length;
    expect([rows.count("dead letter"), rows.count("waiting")]).toEqual([dead, ids.length - dead]);
  }
  expect(rows.get("handoff 16")).toBeUndefined();
  rows.clear();
  expect([rows.size, rows.count("waiting"), rows.count("dead letter")]).toEqual([0, 0, 0]);
});

test("an entry says where its handoff stood before", () => {
  const rows = new HandoffRows(3);
  expect(rows.take(decided("unknown", { type: "expire" }))).toBeUndefined();
  expect(rows.take(handedOff("one"))).toMatchObject({ before: undefined });
  const offer = { type: "offer", recipient: "bert" };
  expect(rows.take(decided("one", offer))).toMatchObject({
    before: "waiting",
    row: { standing: "offered", to: "bert", earlier: ["anna"] },
  });
  // A repetition changes nothing.
  expect(rows.take(handedOff("one"))).toMatchObject({ row: { standing: "offered" } });
  expect(rows.size).toBe(1);
});
