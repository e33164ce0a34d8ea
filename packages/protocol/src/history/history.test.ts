import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Digest } from "../signing/digest.ts";
import type { Envelope, Group, HandoffEnvelope } from "../envelope/envelope.ts";
import { checkHistory, HISTORY_RULES } from "./history.ts";
import type { HistoryEntry, HistoryOptions, HistoryReport, RuleName } from "./history.ts";
import { HistoryWriter, HUB, writeJob, writePlain } from "./history-fixture.ts";
import type { EnvelopeEntry } from "./history-fixture.ts";
import type { StatusCode } from "../status.ts";

const COMPLETE: HistoryOptions = { isComplete: true, hub: HUB };

function plain(...ids: string[]): HistoryWriter {
  const writer = new HistoryWriter();
  for (const id of ids) writePlain(writer, id);
  return writer;
}
/** One handoff, accepted and under way. */
function underWay(over: Partial<HandoffEnvelope> = {}): HistoryWriter {
  const writer = new HistoryWriter();
  writer.submit("h", over);
  writer.hub("h", { type: "offer", recipient: "r" });
  writer.receipt("h", { status: 101 });
  return writer;
}
/** Records an envelope as accepted, whatever the rules say about it. */
function force(
  writer: HistoryWriter,
  envelope: Envelope,
  status: StatusCode | undefined = 100,
  digest: Digest = writer.digest(),
): Digest {
  writer.entries.push({ type: "envelope", at: writer.now, digest, envelope, status });
  return digest;
}
/** The plain history with one envelope changed. */
function changed(index: number, over: object, at?: number): HistoryWriter {
  const writer = plain("h");
  const entry = writer.entries[index] as EnvelopeEntry;
  const envelope = { ...entry.envelope, ...over } as Envelope;
  writer.entries[index] = { ...entry, envelope, ...(at !== undefined && { at }) };
  return writer;
}

describe("a correct history", () => {
  test("one handoff from custody to its end", () => {
    const { entries } = plain("h");
    expect(checkHistory(entries, COMPLETE)).toEqual({
      holds: true,
      handoffs: 1,
      entries: 9,
      violations: [],
    });
  });

  test("ten results of one group, in any order", () => {
    const writer = new HistoryWriter();
    const ids = Array.from({ length: 10 }, (_, index) => `h${index}`);
    for (const [index, id] of ids.entries()) {
      writer.submit(id, { group: { id: "g", index, size: 10, join: "all" } });
      writer.hub(id, { type: "offer", recipient: "r" });
    }
    for (const id of ids.toReversed()) writer.result(id);
    for (const id of ids) writer.apply(id);
    expect(checkHistory(writer.entries, COMPLETE).violations).toEqual([]);
  });

  test("a replay takes the index of the handoff that it replays", () => {
    const writer = new HistoryWriter();
    const group: Group = { id: "g", index: 0, size: 2, join: "quorum", quorum: 1 };
    writer.submit("h", { group });
    writer.cancel("h");
    writer.submit("again", { group, replay_of: "h" });
    writer.cancel("again");
    expect(checkHistory(writer.entries, COMPLETE).violations).toEqual([]);
  });

  test("children that end with their parent", () => {
    const writer = new HistoryWriter();
    writer.submit("parent");
    writer.submit("child", { parent_id: "parent" });
    writer.cancel("parent");
    writer.hub("child", { type: "parent_ended" });
    expect(checkHistory(writer.entries, COMPLETE).violations).toEqual([]);
  });

  test("an end that only the refusal of something late shows, with or without the timer after it", () => {
    for (const withTimer of [false, true]) {
      const writer = underWay();
      writer.now += 60_000;
      expect(writer.result("h")).toBe(410);
      if (withTimer) writer.hub("h", { type: "expire" });
      expect(checkHistory(writer.entries, COMPLETE).violations).toEqual([]);
    }
  });

  test("an end that only a step of the hub after the deadline shows", () => {
    const writer = new HistoryWriter();
    writer.submit("h");
    writer.now += 60_000;
    writer.hub("h", { type: "offer", recipient: "r" });
    expect(writer.states.get("h")!.state).toBe("dead_lettered");
    expect(checkHistory(writer.entries, COMPLETE).violations).toEqual([]);
  });

  test("late unsigned frames, for which nothing was promised", () => {
    const writer = plain("h");
    writer.hub("h", { type: "heartbeat", by: "r", attempt: 1 });
    writer.hub("h", { type: "taken", by: "x", attempt: 7 });
    writer.hub("never seen", { type: "heartbeat", by: "x", attempt: 1 });
    expect(checkHistory(writer.entries, COMPLETE).violations).toEqual([]);
  });

  test("without the hub's answers, the rules determine what they must have been", () => {
    const writer = plain("h");
    writer.result("h");
    const ledger = writer.entries.map((entry) =>
      entry.type === "envelope" ? { ...entry, status: undefined } : entry,
    );
    const repeated = [...ledger.slice(0, 5), ledger[4]!, ...ledger.slice(5)];
    expect(checkHistory(repeated, COMPLETE).violations).toEqual([]);
  });

  test("the terms that the hub bound are the ones that count", () => {
    const lost = (terms: object | undefined): HistoryReport => {
      const writer = new HistoryWriter();
      writer.submit("h");
      const entries: HistoryEntry[] = writer.entries.map((entry) =>
        entry.type === "envelope" && terms !== undefined ? { ...entry, terms } : entry,
      );
      let { now: at } = writer;
      for (let attempt = 1; attempt <= 4; attempt++) {
        const event = { type: "offer", recipient: "r", at: (at += 5_000) } as const;
        entries.push({ type: "event", at, handoff_id: "h", event });
        entries.push({
          type: "envelope",
          at,
          digest: writer.digest(),
          envelope: { ...interrupted(writer), attempt },
          status: 100,
        });
      }
      return checkHistory(entries);
    };
    const interrupted = (writer: HistoryWriter): Envelope & { kind: "result" } => ({
      ...writer.ofRecipient("h"),
      kind: "result",
      from: "r",
      body: { status: 501 },
    });
    expect(lost({ maxAttempts: 9 }).violations).toEqual([]);
    expect(lost(undefined).violations[0]).toMatchObject({ rule: "after_end", index: 8 });
  });

  test("random jobs", () => {
    const ends = new Map<string, number>();
    fc.assert(
      fc.property(
        fc.infiniteStream(fc.nat(1 << 20)),
        fc.integer({ min: 1, max: 6 }),
        (choices, count) => {
          const writer = new HistoryWriter();
          writeJob(writer, (below) => choices.next().value! % below, count, 25);
          const report = checkHistory(writer.entries, COMPLETE);
          expect(report.violations).toEqual([]);
          for (const { state } of writer.states.values())
            ends.set(state, (ends.get(state) ?? 0) + 1);
        },
      ),
      { numRuns: 300 },
    );
    for (const end of ["completed", "failed", "cancelled", "dead_lettered"]) {
      expect([end, ends.has(end)]).toEqual([end, true]);
    }
  });
});

type Planted = () => { writer: HistoryWriter; index: number; options?: HistoryOptions };
const at = (writer: HistoryWriter, index: number, options?: HistoryOptions) => ({
  writer,
  index,
  ...(options && { options }),
});
const last = (writer: HistoryWriter, options?: HistoryOptions) =>
  at(writer, writer.entries.length - 1, options);

/** The hub notes an acknowledgement of several, after one of a stranger or none at all. */
function acknowledgedTogether(by: string | undefined) {
  const writer = new HistoryWriter();
  writer.submit("h");
  writer.hub("h", { type: "offer", recipient: "r" });
  writer.result("h");
  const re = writer.states.get("h")!.outcome!;
  const list = writer.digest();
  const also = [{ handoff_id: "other", re: writer.digest() }];
  const receipt = { kind: "receipt", re, body: { status: 200, also } } as const;
  if (by !== undefined) writer.send({ ...writer.ofDelegator("h"), ...receipt, from: by }, list);
  writer.hub("h", { type: "acknowledge", by: "d", outcome: re, in: list });
  return last(writer);
}

/** For each rule a history that violates it, and no other rule. */
const PLANTED: Record<RuleName, Planted[]> = {
  acceptance_not_by_recipient: [
    () => {
      const writer = new HistoryWriter();
      writer.submit("h");
      writer.hub("h", { type: "offer", recipient: "r" });
      const receipt = {
        ...writer.ofRecipient("h"),
        kind: "receipt",
        body: { status: 101 },
      } as const;
      force(writer, { ...receipt, from: HUB });
      return last(writer);
    },
    () => {
      const writer = new HistoryWriter();
      writer.submit("h");
      const { digest: re } = writer.states.get("h")!;
      const envelope = {
        ...writer.about("h", HUB),
        kind: "receipt",
        re,
        body: { status: 101 },
      } as const;
      force(writer, envelope, undefined);
      return last(writer);
    },
  ],
  acceptance_of_other_digest: [
    () => {
      const writer = new HistoryWriter();
      writer.submit("h");
      writer.hub("h", { type: "offer", recipient: "r" });
      const receipt = {
        ...writer.ofRecipient("h"),
        kind: "receipt",
        body: { status: 101 },
      } as const;
      force(writer, { ...receipt, re: writer.digest() });
      return last(writer);
    },
  ],
  custody_not_by_hub: [() => at(changed(1, { from: "x" }), 1, COMPLETE)],
  custody_without_envelope: [
    // The hub answered before the handoff was on disk, and was killed in between.
    () => {
      const writer = plain("h");
      writer.entries.splice(0, 1);
      writer.entries.splice(1);
      return at(writer, 0);
    },
    () => at(changed(1, { re: "sha256:00" }), 1),
  ],
  acknowledged_without_envelope: [
    () => acknowledgedTogether(undefined),
    () => acknowledgedTogether("x"),
  ],
  against_rules: [
    // Control over another's handoff, HARDENING 14 and 15.
    () => {
      const writer = underWay();
      force(writer, { ...writer.ofDelegator("h"), from: "x", kind: "cancel", body: {} });
      return last(writer);
    },
    () => {
      const writer = underWay();
      force(writer, { ...writer.ofRecipient("h"), from: "x", kind: "progress", body: {} });
      return last(writer);
    },
    // A closed attempt, 16.
    () => {
      const writer = underWay();
      writer.receipt("h", { status: 300 });
      force(writer, { ...writer.ofRecipient("h"), kind: "progress", body: {} });
      return last(writer);
    },
    // An answer to a question that was not asked, and a second answer to the same, 19.
    () => {
      const writer = underWay();
      const body = { question_id: "q", answer: 1 };
      const re = writer.digest();
      force(writer, { ...writer.ofDelegator("h"), kind: "answer", re, body });
      return last(writer);
    },
    () => {
      const writer = underWay();
      writer.question("h", "q");
      writer.answer("h", "q");
      const body = { question_id: "q", answer: 2 };
      const re = writer.digest();
      force(writer, { ...writer.ofDelegator("h"), to: "r", kind: "answer", re, body });
      return last(writer);
    },
    // The same id for another handoff, 8.
    () => {
      const writer = underWay();
      force(writer, { ...writer.envelopes.get("h")!, id: "another" });
      return last(writer);
    },
    // Acknowledged before there was an end.
    () => {
      const writer = underWay();
      const re = writer.digest();
      force(writer, { ...writer.ofDelegator("h"), kind: "receipt", re, body: { status: 200 } });
      return last(writer);
    },
  ],
  event_refused: [
    // Two engines at once.
    () => {
      const writer = underWay();
      writer.hub("h", { type: "offer", recipient: "s" });
      return last(writer);
    },
    () => {
      const writer = underWay();
      writer.hub("h", { type: "lease_lost", attempt: 1 });
      return last(writer);
    },
    () => {
      const writer = plain("h");
      writer.hub("h", { type: "discard" });
      return last(writer);
    },
    () => {
      const writer = plain("h");
      writer.hub("never seen", { type: "offer", recipient: "r" });
      return last(writer);
    },
  ],
  ended_twice: [
    () => {
      const writer = plain("h");
      force(writer, { ...writer.ofRecipient("h"), kind: "result", body: { status: 200 } });
      return last(writer);
    },
    () => {
      const writer = plain("h");
      force(writer, { ...writer.ofDelegator("h"), kind: "cancel", body: {} });
      return last(writer);
    },
    () => {
      const writer = plain("h");
      writer.now += 60_000;
      writer.hub("h", { type: "expire" });
      return last(writer);
    },
    () => {
      const writer = underWay();
      writer.cancel("h");
      writer.hub("h", { type: "dead_letter", status: 404 });
      return last(writer);
    },
  ],
  after_end: [
    () => {
      const writer = plain("h");
      force(writer, { ...writer.ofRecipient("h"), kind: "progress", body: {} });
      return last(writer);
    },
    () => {
      const writer = plain("h");
      force(writer, { ...writer.ofRecipient("h"), kind: "result", body: { status: 500 } });
      return last(writer);
    },
    () => {
      const writer = plain("h");
      writer.hub("h", { type: "offer", recipient: "r" });
      return last(writer);
    },
  ],
  // Only a faulty reducer can break this one: see history-reducer.test.ts.
  end_differs: [],
  parent_not_ended: [
    () => {
      const writer = new HistoryWriter();
      writer.submit("parent");
      writer.submit("child", { parent_id: "parent" });
      writer.hub("child", { type: "parent_ended" });
      return last(writer);
    },
    () => {
      const writer = underWay();
      writer.hub("h", { type: "parent_ended" });
      return last(writer);
    },
  ],
  group_not_decided: [
    () => {
      const writer = new HistoryWriter();
      for (const index of [0, 1]) {
        writer.submit(`m${index}`, { group: { id: "g", index, size: 2, join: "any" } });
      }
      writer.hub("m1", { type: "group_decided" });
      return last(writer);
    },
    () => {
      const writer = new HistoryWriter();
      for (const index of [0, 1]) {
        const group = { id: "g", index, size: 2, join: "all", on_failure: "wait" } as const;
        writer.submit(`m${index}`, { group });
      }
      writer.cancel("m0");
      writer.hub("m1", { type: "group_decided" });
      return last(writer);
    },
    () => {
      const writer = underWay();
      writer.hub("h", { type: "group_decided" });
      return last(writer);
    },
  ],
  never_ended: [() => at(underWay(), -1, COMPLETE)],
  repeat_not_noticed: [
    () => {
      const writer = underWay();
      writer.progress("h");
      writer.entries.push(writer.entries.at(-1)!);
      return last(writer);
    },
    () => {
      const writer = underWay();
      writer.result("h");
      writer.entries.push(writer.entries.at(-1)!);
      return last(writer);
    },
  ],
  duplicate_of_nothing: [
    // A result taken as a duplicate without an earlier one.
    () => {
      const writer = underWay();
      force(writer, { ...writer.ofRecipient("h"), kind: "result", body: { status: 200 } }, 201);
      return last(writer);
    },
  ],
  applied_before_end: [
    () => {
      const writer = underWay();
      writer.apply("h", writer.digest());
      return last(writer);
    },
    () => {
      const writer = underWay();
      writer.apply("never seen", writer.digest(), "d");
      return last(writer);
    },
  ],
  applied_not_outcome: [
    () => {
      const writer = underWay();
      writer.result("h");
      writer.apply("h", writer.digest());
      return last(writer);
    },
    () => {
      const writer = underWay();
      writer.now += 60_000;
      writer.result("h");
      writer.apply("h", (writer.entries.at(-1) as EnvelopeEntry).digest);
      return last(writer);
    },
  ],
  applied_twice: [
    () => {
      const writer = plain("h");
      writer.apply("h");
      return last(writer);
    },
  ],
  effect_key: [
    () => {
      const writer = underWay();
      writer.effect("h", "h:1");
      return last(writer);
    },
    () => {
      const writer = underWay();
      writer.effect("never seen");
      return last(writer);
    },
  ],
  effect_twice: [
    () => {
      const writer = plain("h");
      writer.effect("h");
      return last(writer);
    },
  ],
  child_outlives_parent: [
    () => {
      const writer = new HistoryWriter();
      writer.submit("parent");
      const deadline = new Date(writer.now + 60_001).toISOString();
      writer.submit("child", { parent_id: "parent", deadline });
      return at(writer, 2);
    },
  ],
  completed_late: [
    () => {
      const writer = underWay();
      writer.now += 60_000;
      force(writer, { ...writer.ofRecipient("h"), kind: "result", body: { status: 200 } });
      return last(writer);
    },
    () => {
      const writer = underWay();
      writer.now += 60_250;
      force(writer, { ...writer.ofRecipient("h"), kind: "result", body: { status: 200 } });
      return last(writer, { clockSkewMs: 250 });
    },
  ],
  expired_early: [
    () => {
      const writer = underWay();
      writer.now += 59_000;
      writer.hub("h", { type: "expire" });
      return last(writer);
    },
  ],
  open_past_deadline: [],
  dead_letter_without_reason: [
    () => {
      const writer = underWay();
      writer.hub("h", { type: "dead_letter", status: 200 });
      return last(writer);
    },
    () => {
      const writer = underWay();
      writer.hub("h", { type: "dead_letter", status: 404 });
      const body = { status: 404, reason: " " } as const;
      writer.send({ ...writer.about("h", HUB), kind: "notice", body });
      return last(writer);
    },
  ],
  // A recipient's answer with the wrong addressee, 54.
  addressed_to_another: [
    () => {
      const writer = underWay();
      const body = { status: 200 } as const;
      force(writer, { ...writer.ofRecipient("h"), to: "x", kind: "result", body });
      return last(writer);
    },
    () => {
      const writer = underWay();
      force(writer, { ...writer.ofRecipient("h"), to: "x", kind: "progress", body: {} });
      return last(writer);
    },
    () => {
      const writer = underWay();
      writer.question("h", "q");
      const body = { question_id: "q", answer: 1 };
      const re = writer.digest();
      force(writer, { ...writer.ofDelegator("h"), to: "x", kind: "answer", re, body });
      return last(writer);
    },
  ],
  correlation_differs: [
    () => at(changed(5, { correlation_id: "another job" }), 5),
    () => at(changed(1, { correlation_id: "another job" }), 1),
  ],
  trace_differs: [
    () => at(changed(5, { traceparent: `00-${"f".repeat(32)}-0123456789abcdef-01` }), 5),
  ],
  child_correlation_differs: [
    () => {
      const writer = new HistoryWriter();
      writer.submit("parent");
      writer.submit("child", { parent_id: "parent", correlation_id: "another job" });
      return at(writer, 2);
    },
  ],
  child_trace_differs: [
    () => {
      const writer = new HistoryWriter();
      writer.submit("parent");
      writer.submit("child", { parent_id: "parent", traceparent: undefined });
      return at(writer, 2);
    },
  ],
  result_not_by_recipient: [
    () => {
      const writer = underWay();
      const result = { ...writer.ofRecipient("h"), kind: "result", body: { status: 200 } } as const;
      force(writer, { ...result, from: "x" });
      return last(writer);
    },
    () => {
      const writer = underWay();
      const result = { ...writer.ofRecipient("h"), kind: "result", body: { status: 200 } } as const;
      force(writer, { ...result, attempt: 2 });
      return last(writer);
    },
  ],
  result_of_other_digest: [
    () => {
      const writer = underWay();
      writer.submit("other");
      const { digest: re } = writer.states.get("other")!;
      const result = { ...writer.ofRecipient("h"), kind: "result", body: { status: 200 } } as const;
      force(writer, { ...result, re });
      return last(writer);
    },
  ],
  group_differs: [
    ...[{ size: 3 }, { join: "any" } as const, { join: "quorum", quorum: 1 } as const].map(
      (other): Planted =>
        () => {
          const writer = new HistoryWriter();
          const group: Group = { id: "g", index: 0, size: 2, join: "all" };
          writer.submit("h", { group });
          writer.submit("h2", { group: { ...group, index: 1, ...other } });
          return at(writer, 2);
        },
    ),
    () => {
      const writer = new HistoryWriter();
      const group: Group = { id: "g", index: 0, size: 2, join: "all" };
      writer.submit("h", { group });
      writer.submit("h2", { group: { ...group, index: 1 }, correlation_id: "another job" });
      return at(writer, 2);
    },
  ],
  group_index_out_of_range: [2, -1, 0.5].map((index): Planted => () => {
    const writer = new HistoryWriter();
    writer.submit("h", { group: { id: "g", index, size: 2, join: "all" } });
    return at(writer, 0);
  }),
  group_index_taken: [
    () => {
      const writer = new HistoryWriter();
      const group: Group = { id: "g", index: 1, size: 2, join: "all" };
      writer.submit("h", { group });
      writer.submit("h2", { group });
      return at(writer, 2);
    },
  ],
  applied_of_another: [
    () => {
      const writer = plain("h");
      writer.submit("h2");
      writer.hub("h2", { type: "offer", recipient: "r" });
      writer.result("h2");
      writer.apply("h2", writer.states.get("h")!.outcome);
      return last(writer);
    },
  ],
  applied_by_another: [
    () => {
      const writer = underWay();
      writer.result("h");
      writer.apply("h", undefined, "x");
      return last(writer);
    },
  ],
};

describe("a planted violation is found at its entry", () => {
  for (const [rule, planted] of Object.entries(PLANTED)) {
    for (const [number, plant] of planted.entries()) {
      test(`${rule}, ${number + 1}`, () => {
        const { writer, index, options } = plant();
        const { holds, violations } = checkHistory(writer.entries, options);
        const promise = HISTORY_RULES[rule as RuleName];
        expect(holds).toBe(false);
        expect(violations).toMatchObject([{ promise, rule, index }]);
        expect(violations[0]!.message).toMatch(/^\S.*\.$/);
        expect(violations[0]!.handoffId).not.toBe("");
      });
    }
  }

  test("a handoff that is open past its deadline violates two promises", () => {
    const writer = underWay();
    writer.now += 60_000;
    writer.submit("h2");
    writer.cancel("h2");
    expect(checkHistory(writer.entries).holds).toBe(true);
    expect(checkHistory(writer.entries, COMPLETE).violations).toMatchObject([
      { promise: "P2", rule: "never_ended", handoffId: "h", index: -1 },
      { promise: "P3", rule: "open_past_deadline", handoffId: "h", index: -1 },
    ]);
    const { violations } = checkHistory(writer.entries, { ...COMPLETE, clockSkewMs: 1 });
    expect(violations).toMatchObject([{ rule: "never_ended" }]);
  });

  test("clocks that differ by no more than the allowed skew are no violation", () => {
    const late = underWay();
    late.now += 60_100;
    force(late, { ...late.ofRecipient("h"), kind: "result", body: { status: 200 } });
    const early = underWay();
    early.now += 59_900;
    early.hub("h", { type: "expire" });
    for (const { entries } of [late, early]) {
      expect(checkHistory(entries, COMPLETE).holds).toBe(false);
      expect(checkHistory(entries, { ...COMPLETE, clockSkewMs: 101 }).violations).toEqual([]);
    }
  });
});

describe("the entry that ends a handoff", () => {
  const jobs = fc.infiniteStream(fc.nat(1 << 20)).map((choices) => {
    const writer = new HistoryWriter();
    writeJob(writer, (below) => choices.next().value! % below, 2, 25);
    return writer;
  });
  /** The entry at which the reducer or the hub's own step ended a handoff. */
  function endsOf({ entries, states }: HistoryWriter): { id: string; index: number }[] {
    const ends: { id: string; index: number }[] = [];
    for (const [id, { outcome }] of states) {
      const index = entries.findIndex((entry) =>
        entry.type === "envelope"
          ? entry.digest === outcome && entry.status === 100
          : entry.type === "event" && entry.handoff_id === id && entry.event.type === "expire",
      );
      if (index >= 0) ends.push({ id, index });
    }
    return ends;
  }

  test("if it is missing, the handoff has never ended", () => {
    let missed = 0;
    fc.assert(
      fc.property(jobs, (writer) => {
        for (const { id, index } of endsOf(writer)) {
          const entries = writer.entries.toSpliced(index, 1);
          // A refusal after the deadline shows that the handoff ended, if not how.
          const { deadline } = writer.states.get(id)!;
          const isShown = entries.some((entry) =>
            entry.type === "envelope"
              ? entry.envelope.handoff_id === id && entry.at >= deadline && entry.status! >= 300
              : entry.type === "event" && entry.handoff_id === id && entry.at >= deadline,
          );
          if (!isShown) missed++;
          const { violations } = checkHistory(entries, COMPLETE);
          if (!isShown) expect(violations.some(({ handoffId }) => handoffId === id)).toBe(true);
        }
      }),
      { numRuns: 200 },
    );
    expect(missed).toBeGreaterThan(100);
  });

  test("if it is duplicated, the second one is the violation", () => {
    fc.assert(
      fc.property(jobs, (writer) => {
        for (const { id, index } of endsOf(writer)) {
          const entries = writer.entries.toSpliced(index, 0, writer.entries[index]!);
          const { violations } = checkHistory(entries, COMPLETE);
          expect(violations).toMatchObject([{ promise: "P2", handoffId: id, index: index + 1 }]);
        }
      }),
      { numRuns: 200 },
    );
  });

  test("if it comes before an earlier accepted entry, that one is the violation", () => {
    fc.assert(
      fc.property(jobs, (writer) => {
        for (const { id, index } of endsOf(writer)) {
          const before = writer.entries.findLastIndex(
            (entry, each) =>
              each < index &&
              (entry.type === "envelope"
                ? entry.envelope.handoff_id === id &&
                  entry.status === 100 &&
                  entry.envelope.kind !== "handoff"
                : entry.type === "event" &&
                  entry.handoff_id === id &&
                  !["taken", "heartbeat"].includes(entry.event.type)),
          );
          if (before < 0) continue;
          const entries = writer.entries.toSpliced(index, 1);
          entries.splice(before, 0, writer.entries[index]!);
          const { violations } = checkHistory(entries, COMPLETE);
          expect(violations.some(({ handoffId }) => handoffId === id)).toBe(true);
        }
      }),
      { numRuns: 200 },
    );
  });
});

test("entries can be added one at a time", () => {
  const { entries } = plain("h", "h2");
  const taken: number[] = [];
  function* stream(): Generator<HistoryEntry> {
    for (const [index, entry] of entries.entries()) {
      taken.push(index);
      yield entry;
    }
  }
  expect(checkHistory(stream(), COMPLETE)).toMatchObject({ holds: true, handoffs: 2, entries: 18 });
  expect(taken).toHaveLength(18);
});
