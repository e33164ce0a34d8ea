import { expect, test } from "vitest";
import { HistoryWriter } from "../history/history-fixture.ts";
import { checkHistory } from "../audit.ts";
import { isAddressed } from "../hub.ts";
import type { Envelope } from "../index.ts";
import { HANDOFF, RESULT, stateAfter } from "../lifecycle/lifecycle-fixture.ts";

const base = {
  waybill: 1,
  id: "e",
  handoff_id: "h",
  correlation_id: "c",
  issued_at: "2026-01-01T00:00:00.000Z",
  salt: "AAAAAAAAAAAAAAAAAAAAAA",
} as const;
const ofRecipient = { ...base, from: "r", attempt: 1, re: HANDOFF };
const ofDelegator = { ...base, from: "d" };

const toRecipient = stateAfter(
  { type: "submit" },
  { type: "offer" },
  { type: "question", questions: ["q"] },
);
const toAnyone = stateAfter({ type: "submit", recipient: null }, { type: "offer" });

type Unaddressed = Envelope extends infer Each
  ? Each extends Envelope
    ? Omit<Each, "to">
    : never
  : never;

/** The parties that an envelope may name as its addressee. */
function named(envelope: Unaddressed, state = toRecipient, hub: string | null = "hub"): string {
  const isFor = (to: string) => isAddressed({ ...envelope, to }, state, hub ?? undefined);
  return ["d", "r", "hub", "x"].filter(isFor).join(" ");
}

test("WB-88 a recipient's envelopes are addressed to the delegator", () => {
  for (const status of [101, 300, 301, 406, 422] as const) {
    expect(named({ ...ofRecipient, kind: "receipt", body: { status } })).toBe("d");
  }
  expect(named({ ...ofRecipient, kind: "progress", body: {} })).toBe("d");
  expect(named({ ...ofRecipient, kind: "question", body: { questions: [{ id: "q" }] } })).toBe("d");
  expect(named({ ...ofRecipient, kind: "result", body: { status: 200 } })).toBe("d");
});

test("WB-88 a cancellation is addressed to the recipient that the handoff names, or to the hub", () => {
  const cancel: Unaddressed = { ...ofDelegator, kind: "cancel", body: {} };
  expect(named(cancel)).toBe("r hub");
  expect(named(cancel, toAnyone)).toBe("hub");
});

test("WB-88 an answer is addressed to the agent that asked", () => {
  const body = { question_id: "q", answer: 1 };
  const answer: Unaddressed = { ...ofDelegator, kind: "answer", re: HANDOFF, body };
  expect(named(answer)).toBe("r");
  // An answer that nobody has asked for is refused elsewhere, with another status.
  expect(named({ ...answer, body: { ...body, question_id: "p" } })).toBe("d r hub x");
});

test("WB-88 an acknowledgement is addressed to the hub", () => {
  const acknowledgement: Unaddressed = {
    ...ofDelegator,
    kind: "receipt",
    re: RESULT,
    body: { status: 200 },
  };
  expect(named(acknowledgement)).toBe("hub");
  expect(named({ ...acknowledgement, attempt: 1 })).toBe("hub");
});

test("WB-88 a reader that does not know the hub's id accepts any addressee that could be the hub", () => {
  const body = { status: 200 } as const;
  expect(named({ ...ofDelegator, kind: "cancel", body: {} }, toAnyone, null)).toBe("d r hub x");
  expect(named({ ...ofDelegator, kind: "receipt", re: RESULT, body }, toAnyone, null)).toBe(
    "d r hub x",
  );
  expect(named({ ...ofRecipient, kind: "progress", body: {} }, toAnyone, null)).toBe("d");
});

test("WB-88 a hub that has accepted a result with the wrong addressee violates its promise", () => {
  for (const to of ["d", "x"]) {
    const writer = new HistoryWriter();
    writer.submit("h");
    writer.hub("h", { type: "offer", recipient: "r" });
    const result = {
      ...writer.ofRecipient("h"),
      to,
      kind: "result",
      body: { status: 200 },
    } as const;
    const status = writer.send(result);
    expect(status).toBe(to === "d" ? 100 : 403);
    expect(checkHistory(writer.entries)).toMatchObject({ holds: true });
    const taken = writer.entries.map((entry) => ({ ...entry, status: 100 }) as const);
    const rules = checkHistory(taken).violations.map(({ rule }) => rule);
    expect(rules).toEqual(to === "d" ? [] : ["addressed_to_another"]);
  }
});
