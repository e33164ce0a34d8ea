import { EMPTY_LEDGER } from "@waybill/hub/store";
import type { StoredHandoff } from "@waybill/hub/store";
import { digestOf, newId, newSalt } from "@waybill/protocol";
import { expect, test } from "vitest";
import { planFrom } from "../plan/plan.ts";
import type { Course } from "../supervise/run.ts";
import type { Evidence } from "./evidence.ts";
import { judge } from "./properties.ts";

const plan = planFrom(2, 2, 0);
const ids = plan.tasks.map(() => newId());
const course: Course = {
  outages: [],
  repeatedEffects: 0,
  falls: [],
  isOver: true,
  failures: new Map(),
};

function storedAs(id: string, state: StoredHandoff["state"]): [string, StoredHandoff] {
  return [
    id,
    {
      id,
      version: 1,
      record: "{}",
      state,
      delegator: "delegator",
      correlationId: id,
      parentId: null,
      groupId: null,
      wakeAt: null,
      waitsFor: null,
      waitsAt: 0,
      session: null,
      sessionAt: 0,
      inboxes: [],
      isDeadLetter: false,
    },
  ];
}

const at = 1_800_000_000_000;
const sound: Evidence = {
  kept: ids.map((id, index) => ({ index, id })),
  applied: ids.map((id, index) => ({
    at,
    index,
    id,
    status: 200,
    digest: digestOf(id),
    outputIndex: index,
  })),
  effects: ids.map((id) => ({ at, handoffId: id, key: id })),
  history: [],
  ledger: { holds: true, entries: 0, head: EMPTY_LEDGER },
  handoffs: new Map(ids.map((id) => storedAs(id, "completed"))),
  unacknowledged: [],
};

const RECIPIENT = "anna";
const envelopes = {
  waybill: 1,
  id: newId(),
  correlation_id: newId(),
  handoff_id: ids[0]!,
  issued_at: new Date(at).toISOString(),
  salt: newSalt(),
} as const;

/** The first handoff with one attempt, lost at a time after its offer, and no further attempt. */
function usedUp(lostAfterMs: number): Partial<Evidence> {
  const lostAt = at + lostAfterMs;
  return {
    handoffs: new Map([...sound.handoffs, storedAs(ids[0]!, "dead_lettered")]),
    applied: [{ at, index: 0, id: ids[0]!, status: 508 }, sound.applied[1]!],
    history: [
      {
        type: "event",
        at,
        handoff_id: ids[0]!,
        event: { type: "offer", recipient: RECIPIENT, at },
      },
      {
        type: "event",
        at: lostAt,
        handoff_id: ids[0]!,
        event: { type: "lease_lost", attempt: 1, at: lostAt },
      },
      {
        type: "envelope",
        at: lostAt,
        digest: digestOf("notice"),
        envelope: {
          ...envelopes,
          kind: "notice",
          from: "hub",
          to: "delegator",
          re: digestOf(ids[0]!),
          body: { status: 508, reason: "No attempt is left." },
        },
      },
    ],
  };
}

function outage(name: string, from: number, until: number): Partial<Course> {
  return { outages: [{ name, from: at + from, until: at + until }] };
}

/** Only the lost attempts matter here: these histories are incomplete. */
function isLost(evidence: Partial<Evidence>, run: Partial<Course> = {}): boolean {
  return failing(evidence, run).includes("nothing is lost");
}

test("attempts used up by kills excuse a dead letter", () => {
  expect(isLost(usedUp(2_000), outage(RECIPIENT, 100, 500))).toBe(false);
  expect(isLost(usedUp(2_000), outage("hub", 100, 500))).toBe(false);
  // Its recipient was not back yet when it was offered.
  expect(isLost(usedUp(2_000), outage(RECIPIENT, -500, 10))).toBe(false);
});

test("attempts lost without a kill excuse nothing", () => {
  expect(isLost(usedUp(2_000))).toBe(true);
  expect(isLost(usedUp(2_000), outage("bert", 100, 500))).toBe(true);
  expect(isLost(usedUp(2_000), outage(RECIPIENT, 2_100, 2_500))).toBe(true);
  expect(isLost(usedUp(2_000), outage(RECIPIENT, -500, -10))).toBe(true);
});

test("a child whose attempts kills have used up excuses its parent, and no other", () => {
  const { history, handoffs } = usedUp(2_000);
  const [, part] = storedAs(ids[0]!, "dead_lettered");
  const whole = (parentId: string | null) => ({
    handoffs: new Map([
      ...handoffs!,
      [part.id, { ...part, parentId }],
      storedAs(ids[1]!, "failed"),
    ]),
    applied: [
      { at, index: 0, id: part.id, status: 508 } as const,
      { at, index: 1, id: ids[1]!, status: 508 } as const,
    ],
    history: history!,
  });
  expect(isLost(whole(ids[1]!), outage(RECIPIENT, 100, 500))).toBe(false);
  expect(isLost(whole(null), outage(RECIPIENT, 100, 500))).toBe(true);
});

test("kills excuse no other end than used-up attempts", () => {
  const applied = [{ at, index: 0, id: ids[0]!, status: 504 } as const, sound.applied[1]!];
  const { history, handoffs } = usedUp(2_000);
  const expired = { applied, handoffs: handoffs!, history: history!.slice(0, 2) };
  expect(isLost(expired, outage(RECIPIENT, 100, 500))).toBe(true);
});

function failing(evidence: Partial<Evidence>, run: Partial<Course> = {}): string[] {
  return judge(plan, { ...course, ...run }, { ...sound, ...evidence })
    .filter(({ problems }) => problems.length > 0)
    .map(({ name }) => name);
}

test("a run without faults has no problem", () => {
  expect(failing({})).toEqual([]);
});

test.each<[string, string, Partial<Evidence>, Partial<Course>?]>([
  ["one never came into custody", "nothing is lost", { handoffs: new Map(), effects: [] }],
  [
    "one is open",
    "nothing is lost",
    { handoffs: new Map([...sound.handoffs, storedAs(ids[0]!, "open")]) },
  ],
  ["an end reached nobody", "nothing is lost", { applied: sound.applied.slice(1) }],
  [
    "its delegator was told something else",
    "nothing is lost",
    { handoffs: new Map([...sound.handoffs, storedAs(ids[0]!, "dead_lettered")]) },
  ],
  [
    "it ran out of time without need",
    "nothing is lost",
    {
      handoffs: new Map([...sound.handoffs, storedAs(ids[0]!, "dead_lettered")]),
      applied: [{ at, index: 0, id: ids[0]!, status: 504 }, sound.applied[1]!],
    },
  ],
  ["it is completed without its effect", "nothing is lost", { effects: sound.effects.slice(1) }],
  ["an end was not acknowledged", "nothing is lost", { unacknowledged: [ids[0]!] }],
  ["it stood still", "nothing is lost", {}, { isOver: false }],
  [
    "an end was applied twice",
    "nothing comes twice",
    { applied: [...sound.applied, sound.applied[0]!] },
  ],
  [
    "a result was another one's",
    "nothing comes twice",
    { applied: [sound.applied[0]!, { ...sound.applied[1]!, outputIndex: 0 }] },
  ],
  [
    "an index was handed off under two ids",
    "nothing comes twice",
    { kept: [{ index: 0, id: newId() }, ...sound.kept] },
  ],
  [
    "the history is against the rules",
    "the history holds",
    {
      history: [
        { type: "applied", at, handoff_id: ids[0]!, digest: digestOf("a"), by: "delegator" },
      ],
    },
  ],
  [
    "the chain is broken",
    "the ledger's chain verifies",
    { ledger: { holds: false, sequence: 1, fault: "chain_broken", message: "It is broken." } },
  ],
  [
    "an effect happened twice",
    "no effect happens twice",
    { effects: [...sound.effects, sound.effects[0]!] },
  ],
  [
    "an effect is nobody's",
    "no effect happens twice",
    { effects: [...sound.effects, { at, handoffId: "x", key: "x" }] },
  ],
  ["a process fell", "only those who are killed die", {}, { falls: ["The hub ended by itself."] }],
])("%s: %s fails", (_case, property, evidence, run) => {
  expect(failing(evidence, run)).toEqual([property]);
});
