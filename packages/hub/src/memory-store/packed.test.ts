import { digestOf, generateKey, newId, signCompact } from "@waybill/protocol";
import fc from "fast-check";
import { expect, test } from "vitest";
import { chained, ledgerOfAll, newEntry } from "../ledger/ledger-fixture.ts";
import { IdIndex } from "./id-index.ts";
import { PackedLedger } from "./packed-ledger.ts";
import { entriesOf, packRecord, unpackRecord } from "./packed-record.ts";
import { TextPacker } from "./packed-text.ts";
import { ReplayKeys } from "./replay-keys.ts";
import { SortedSet } from "./sorted-set.ts";

const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 200 }),
  fc.json(),
  fc
    .array(
      fc.oneof(
        fc.uuid(),
        fc.constantFrom(",", '"state":"open",', '"id":"', digestOf("a"), "\0", "\u0001", "é", "🧾"),
      ),
    )
    .map((parts) => parts.join("")),
);

test("every text comes back from a packer, the first time and when its pieces are known", () => {
  const packer = new TextPacker();
  fc.assert(
    fc.property(text, (each) => {
      for (let time = 0; time < 3; time++) expect(packer.unpack(packer.pack(each))).toBe(each);
    }),
  );
  const long = "é🧾x".repeat(50_000);
  expect(packer.unpack(packer.pack(long))).toBe(long);
});

test("a record that comes again in another handoff takes less than half", () => {
  const packer = new TextPacker();
  const record = () =>
    JSON.stringify({
      id: newId(),
      digest: digestOf(newId()),
      state: "open",
      status: 100,
      attempts: [],
      leaseMs: 30_000,
    });
  packer.pack(record());
  packer.pack(record());
  const again = record();
  expect(packer.pack(again).length).toBeLessThan(again.length / 2);
});

test("every entry comes back from the packed ledger", () => {
  const key = generateKey();
  const jws = signCompact(JSON.stringify({ id: newId(), text: "naïve 🧾" }), key);
  const contents = [
    "",
    ".",
    "..",
    "a.b.c",
    "a.b.c.d",
    "AA.AB.AA",
    jws,
    `${jws}=`,
    "{}",
    "\ufffd",
    "\0",
  ];
  const entries = [
    ...ledgerOfAll(),
    ...chained([
      ...contents.map((content) => newEntry(content)),
      newEntry("another digest", { digest: digestOf("") }),
      newEntry(jws, { at: -1.5, handoffId: newId(), replayKey: { from: "editor", id: newId() } }),
      newEntry(jws, { handoffId: "", replayKey: { from: "", id: "" }, type: "manifest" }),
    ]),
  ].map((entry, index) => ({ ...entry, sequence: index + 1 }));
  const ledger = new PackedLedger(new TextPacker());
  entries.forEach((entry, index) => ledger.push(entry, 7 * index));
  entries.forEach((entry, index) => {
    expect(ledger.entry(index + 1)).toEqual(entry);
    expect(ledger.before(index + 1)).toBe(7 * index);
  });
});

test("a record comes back with the contents that it was packed by", () => {
  const contents = ["a".repeat(64), "b".repeat(100), "$&".repeat(50), "1".repeat(64)];
  const record = fc
    .array(fc.oneof(fc.constantFrom(...contents), fc.constantFrom("\0", "\0\0", "1", "{}")))
    .map((parts) => parts.join(""));
  fc.assert(
    fc.property(record, (each) => {
      const packed = packRecord(
        each,
        contents.map((content, index) => [index, content]),
      );
      expect(unpackRecord(packed, (sequence) => contents[sequence]!)).toBe(each);
      for (const sequence of entriesOf(packed)) expect(each).toContain(contents[sequence]);
    }),
  );
});

test("a sorted set is a set and sorted, at any size", () => {
  const action = fc.record({ isAdd: fc.boolean(), value: fc.nat({ max: 3000 }) });
  const actions = fc.array(action, { maxLength: 3000, size: "max" });
  fc.assert(
    fc.property(actions, fc.nat({ max: 3000 }), (all, cursor) => {
      const set = new SortedSet<number>((a, b) => a - b);
      const model = new Set<number>();
      for (const { isAdd, value } of all) {
        if (isAdd) {
          set.add(value);
          model.add(value);
        } else {
          set.delete(value);
          model.delete(value);
        }
      }
      const sorted = [...model].toSorted((a, b) => a - b);
      expect([...set.after()]).toEqual(sorted);
      expect([...set.after(cursor)]).toEqual(sorted.filter((value) => value > cursor));
      expect(set.first()).toBe(sorted[0]);
      expect(set.isEmpty).toBe(sorted.length === 0);
    }),
    { numRuns: 30 },
  );
});

test("an index finds the ids of a name, one or many", () => {
  const action = fc.record({
    isAdd: fc.boolean(),
    name: fc.constantFrom("a", "b"),
    id: fc.constantFrom("1", "2", "3"),
  });
  fc.assert(
    fc.property(fc.array(action), (all) => {
      const index = new IdIndex();
      const model = new Set<string>();
      for (const { isAdd, name, id } of all) {
        if (isAdd) {
          index.add(name, id);
          model.add(name + id);
        } else {
          index.delete(name, id);
          model.delete(name + id);
        }
      }
      for (const name of ["a", "b"]) {
        const ids = ["1", "2", "3"].filter((id) => model.has(name + id));
        expect([...index.after(name, undefined)]).toEqual(ids);
        expect([...index.after(name, "1")]).toEqual(ids.filter((id) => id > "1"));
      }
    }),
  );
});

test("replay keys are found by sender and id, however many there are", () => {
  const keys = Array.from({ length: 20_000 }, (_, index) => ({
    from: `agent-${index % 7}`,
    id: newId(),
  }));
  const index = new ReplayKeys((sequence) => keys[sequence - 1]!);
  keys.forEach((key, at) => index.add(key, at + 1));
  expect(keys.every((key, at) => index.find(key) === at + 1)).toBe(true);
  expect(index.find({ from: "agent-1", id: keys[0]!.id })).toBeUndefined();
  expect(index.find({ from: "agent-0", id: newId() })).toBeUndefined();
});
