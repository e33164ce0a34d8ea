/// <reference types="node" />
import { Buffer } from "node:buffer";
import { execFileSync } from "node:child_process";
import {
  digestOf,
  generateKey,
  publicKeyFrom,
  signCompact,
  signEnvelope,
  createHandoff,
} from "@waybill/protocol";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { LedgerEntry } from "../store.ts";
import { chainHash, EMPTY_LEDGER } from "./chain.ts";
import { signCheckpoint, verifyCheckpoint } from "./checkpoint.ts";
import { ledgerLine, ledgerLinePieces, LINE_PIECE_CHARACTERS, readLedger } from "./export.ts";
import { chained, ledgerOfAll, newEntry, signedText } from "./ledger-fixture.ts";
import { verifyLedger } from "./verify.ts";

const entries = ledgerOfAll();
const [head] = entries.slice(-1) as [LedgerEntry];

function replaced(index: number, members: Partial<LedgerEntry>): LedgerEntry[] {
  return entries.map((entry, at) => (at === index ? { ...entry, ...members } : entry));
}

describe("chainHash", () => {
  test("equals printf and sha256sum of its ten lines", () => {
    const content = signedText("payload");
    const [header, , signature] = content.split(".");
    const entry = newEntry(content, {
      type: "envelope",
      handoffId: "h",
      replayKey: { from: "editor", id: "e" },
    });
    const lines = `waybill ledger entry 1\\n${EMPTY_LEDGER.hash}\\n1\\n2023-11-14T22:13:20.000Z\\nenvelope\\nh\\neditor\\ne\\n${entry.digest}\\n${header}..${signature}\\n`;
    const shell = `printf '${lines}' | sha256sum | cut -d' ' -f1 | tr -d '\\n'`;
    const expected = execFileSync("/bin/sh", ["-c", shell], { encoding: "utf8" });
    expect(chainHash(EMPTY_LEDGER.hash, { ...entry, sequence: 1 })).toBe(`sha256:${expected}`);
  });

  test("binds every member", () => {
    const hash = chainHash(EMPTY_LEDGER.hash, entries[0]!);
    const others: Partial<LedgerEntry>[] = [
      { sequence: 2 },
      { at: entries[0]!.at + 1 },
      { type: "decision" },
      { handoffId: null },
      { replayKey: null },
      { replayKey: { from: "agent-0", id: "another" } },
      { replayKey: { from: "another", id: "envelope-0" } },
      { digest: digestOf("another") },
      { content: signedText("payload 0").replace(/.$/, (last) => (last === "A" ? "Q" : "A")) },
    ];
    for (const other of others) {
      expect(chainHash(EMPTY_LEDGER.hash, { ...entries[0]!, ...other })).not.toBe(hash);
    }
    expect(chainHash(head.hash, entries[0]!)).not.toBe(hash);
  });
});

describe("verifyLedger", () => {
  test("a complete ledger is valid, an empty one too, and a part of one from its head on", async () => {
    const { sequence, hash } = head;
    expect(await verifyLedger(entries)).toEqual({
      holds: true,
      entries: 8,
      head: { sequence, hash },
    });
    expect(await verifyLedger([])).toEqual({ holds: true, entries: 0, head: EMPTY_LEDGER });
    const report = await verifyLedger(entries.slice(5), { from: entries[4], checkpoint: head });
    expect(report).toMatchObject({ holds: true, entries: 3 });
  });

  test("the first modified entry is named", async () => {
    const swapped = [...entries.slice(0, 2), entries[3]!, entries[2]!, ...entries.slice(4)];
    const inserted = chained([...entries.slice(0, 3), newEntry("{}"), ...entries.slice(3)]);
    const cases: [string, LedgerEntry[], number, string][] = [
      ["content", replaced(3, { content: "{}" }), 4, "content_changed"],
      [
        "content and digest",
        replaced(3, { content: "{}", digest: digestOf("{}") }),
        4,
        "chain_broken",
      ],
      ["time", replaced(3, { at: 0 }), 4, "chain_broken"],
      ["hash", replaced(3, { hash: digestOf("") }), 4, "chain_broken"],
      ["not a time", replaced(3, { at: Number.NaN }), 4, "unreadable"],
      ["a line feed", replaced(0, { handoffId: "handoff-0\n" }), 1, "unreadable"],
      ["half a surrogate", replaced(3, { content: "\ud800" }), 4, "unreadable"],
      ["removed", entries.toSpliced(3, 1), 4, "out_of_order"],
      ["first removed", entries.slice(1), 1, "out_of_order"],
      ["repeated", entries.toSpliced(3, 0, entries[2]!), 4, "out_of_order"],
      ["swapped", swapped, 3, "out_of_order"],
      [
        "removed and numbered anew",
        entries.toSpliced(3, 1).map((entry, index) => ({ ...entry, sequence: index + 1 })),
        4,
        "chain_broken",
      ],
      ["cut off", entries.slice(0, -1), 8, "end_missing"],
      ["all cut off", [], 1, "end_missing"],
      ["inserted and chained anew", inserted, 8, "not_as_signed"],
    ];
    for (const [name, changed, sequence, fault] of cases) {
      const report = await verifyLedger(changed, { checkpoint: head });
      expect(report, name).toMatchObject({ holds: false, sequence, fault });
    }
  });

  test("says what is in the place of a missing entry", async () => {
    const report = await verifyLedger(entries.toSpliced(3, 1));
    expect(report).toMatchObject({
      message:
        "Entry 4 (entry 5 stands in its place) is not the one that comes next: others are missing, repeated or in another order.",
    });
  });

  test("refuses a checkpoint from before its beginning", async () => {
    await expect(
      verifyLedger(entries.slice(5), { from: entries[4], checkpoint: entries[2] }),
    ).rejects.toMatchObject({ status: 400 });
  });

  test("any one change, removal, repetition or exchange is found", async () => {
    const place = fc.nat({ max: entries.length - 1 });
    const change = fc.oneof(
      fc.record({
        type: fc.constantFrom("removed" as const, "repeated" as const),
        at: place,
        other: place,
      }),
      fc.record({ type: fc.constant("moved" as const), at: place, other: place }),
      fc.record({ type: fc.constant("cut" as const), at: place, other: place }),
    );
    await fc.assert(
      fc.asyncProperty(change, async ({ type, at, other }) => {
        fc.pre(type !== "moved" || at !== other);
        const rest = entries.toSpliced(at, 1);
        const changed = {
          removed: rest,
          repeated: entries.toSpliced(other, 0, entries[at]!),
          moved: rest.toSpliced(other, 0, entries[at]!),
          cut: entries.slice(0, at),
        }[type];
        expect((await verifyLedger(changed, { checkpoint: head })).holds).toBe(false);
      }),
    );
  });
});

describe("checkpoint", () => {
  const key = generateKey();
  const known = publicKeyFrom(key.jwk);
  const keyOf = (kid: string) => (kid === key.kid ? known : undefined);
  const checkpoint = signCheckpoint(head, 1_700_000_000_000, key);

  test("is read back as it was signed", () => {
    expect(verifyCheckpoint(checkpoint, keyOf)).toEqual({
      sequence: 8,
      hash: head.hash,
      at: 1_700_000_000_000,
    });
  });

  test("is refused if it was modified or is of another key", () => {
    const [start, payload, signature] = checkpoint.split(".") as [string, string, string];
    const other = Buffer.from(payload, "base64url")
      .toString()
      .replace('"sequence":8', '"sequence":7');
    const forged = `${start}.${Buffer.from(other).toString("base64url")}.${signature}`;
    expect(() => verifyCheckpoint(forged, keyOf)).toThrow(expect.objectContaining({ status: 401 }));
    const stranger = signCheckpoint(head, 0, generateKey());
    expect(() => verifyCheckpoint(stranger, keyOf)).toThrow(
      expect.objectContaining({ status: 401 }),
    );
  });

  test("can't be replaced by an envelope, or anything else that the hub signed", () => {
    const handoff = createHandoff({
      from: "hub",
      domain: key.kid,
      to: "researcher",
      body: { capability: "web_research", input: {} },
      timeoutMs: 1000,
    });
    const good = {
      waybill: 1,
      kind: "checkpoint",
      sequence: 1,
      hash: head.hash,
      at: "2026-01-01T00:00:00Z",
    };
    const signed = [
      signEnvelope(handoff, key),
      ...[
        [],
        null,
        { ...good, kind: "notice" },
        { ...good, waybill: 2 },
        { ...good, more: 1 },
        { ...good, sequence: -1 },
        { ...good, sequence: 1.5 },
        { ...good, hash: "sha256:" },
        { ...good, at: "2026-02-30T00:00:00Z" },
        { ...good, at: 0 },
      ].map((payload) => signCompact(JSON.stringify(payload), key)),
    ];
    for (const text of signed) {
      expect(() => verifyCheckpoint(text, keyOf)).toThrow(expect.objectContaining({ status: 400 }));
    }
  });
});

describe("export", () => {
  const text = entries.map(ledgerLine).join("");

  async function read(pieces: readonly (string | Uint8Array)[]): Promise<LedgerEntry[]> {
    const all: LedgerEntry[] = [];
    for await (const entry of readLedger(pieces)) all.push(entry);
    return all;
  }

  test("an export reads back as it was, in chunks of any size", async () => {
    const bytes = Buffer.from(text);
    for (const size of [1, 2, 3, 7, 64, bytes.length]) {
      const pieces: Uint8Array[] = [];
      for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.subarray(at, at + size));
      expect(await read(pieces)).toEqual(entries);
    }
    expect(await read([text])).toEqual(entries);
    expect(await read([])).toEqual([]);
  });

  test("every line is an object for any JSON reader, with the content verbatim", () => {
    const lines = text.trimEnd().split("\n");
    expect(lines.map((line) => (JSON.parse(line) as LedgerEntry).content)).toEqual(
      entries.map(({ content }) => content),
    );
    expect(lines[0]).toMatch(/^\{"sequence":1,"at":"2023-11-14T22:13:20.000Z","type":"envelope",/);
  });

  test("a long line in pieces is the same line, and none of them is long", () => {
    const long = "🙂".repeat(LINE_PIECE_CHARACTERS);
    for (const content of [`x${long}`, long, `"\\\u0001${long}\ud83d`, "short", ""]) {
      const entry = { ...entries[0]!, content };
      const pieces = [...ledgerLinePieces(entry)];
      expect(pieces.join("")).toBe(ledgerLine(entry));
      for (const piece of pieces) expect(piece.length).toBeLessThan(LINE_PIECE_CHARACTERS + 500);
    }
  });

  test("one changed bit, wherever it is, is found", async () => {
    const bytes = Buffer.from(entries.slice(0, 4).map(ledgerLine).join(""));
    for (let at = 0; at < bytes.length; at++) {
      const changed = Buffer.from(bytes);
      changed[at]! ^= 1 << (at % 8);
      const report = await verifyLedger(readLedger([changed]), { checkpoint: entries[3] });
      expect(report.holds, `byte ${at}`).toBe(false);
    }
  });

  test("a truncation is found at any place", async () => {
    const bytes = Buffer.from(entries.slice(0, 2).map(ledgerLine).join(""));
    for (let length = 0; length < bytes.length; length++) {
      const cut = bytes.subarray(0, length);
      const report = await verifyLedger(readLedger([cut]), { checkpoint: entries[1] });
      expect(report.holds, `${length} bytes`).toBe(false);
    }
  });

  test("a file that is no ledger is unreadable, with the offending line", async () => {
    const line = ledgerLine(entries[0]!);
    for (const other of [
      "\n",
      "{}\n",
      "null\n",
      "[]\n",
      "{\n",
      `${line.replace("1", "1.0")}`,
      ` ${line}`,
    ]) {
      const report = await verifyLedger(readLedger([other]));
      expect(report, other).toMatchObject({ holds: false, sequence: 1, fault: "unreadable" });
      expect(report).toHaveProperty("message", expect.stringContaining("line 1"));
    }
  });

  test("an error of the source itself is not reported as one of the ledger", async () => {
    async function* failing(): AsyncGenerator<string> {
      yield ledgerLine(entries[0]!);
      throw await Promise.resolve(new Error("the socket closed"));
    }
    await expect(verifyLedger(readLedger(failing()))).rejects.toThrow("the socket closed");
  });
});
