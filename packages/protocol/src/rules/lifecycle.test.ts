import { expect, test } from "vitest";
import { checkHistory } from "../audit.ts";
import { dueEvent, eventOf, isOfferDue, liveAttempt, step, wakeAt } from "../hub.ts";
import type { Handoff } from "../hub.ts";
import { HistoryWriter } from "../history/history-fixture.ts";
import {
  CANCEL,
  DEADLINE,
  eventFrom,
  HANDOFF,
  OTHER,
  RESULT,
  START,
  TERMS,
} from "../lifecycle/lifecycle-fixture.ts";
import { readWith } from "./rules-fixture.ts";
import {
  accept,
  after,
  again,
  answerOf,
  BY_DELEGATOR,
  BY_HUB,
  BY_RECIPIENT,
  endedStates,
  liveStates,
  offer,
  openStates,
  refused,
  retryable,
  follow,
  toAnyone,
} from "./states-fixture.ts";
import type { Given, Name } from "./states-fixture.ts";

test("WB-42 after the end no event changes state or outcome, and all are answered 410", () => {
  for (const [name, state] of Object.entries(endedStates())) {
    for (const type of [...BY_RECIPIENT, ...BY_HUB, "cancel"] as Name[]) {
      for (const at of [START, DEADLINE, DEADLINE + 1]) {
        const isOfNoAttempt = state.attempts.length === 0 && "attempt" in eventFrom({ type });
        const answer = refused(state, {
          type,
          at,
          ...("digest" in eventFrom({ type }) && { digest: OTHER }),
        });
        expect(answer, `${type} after ${name}`).toBe(isOfNoAttempt ? 403 : 410);
      }
    }
    const { state: end, status, outcome, attempts } = state;
    for (const type of ["acknowledge", "discard"] as const) {
      const event = { type, outcome: outcome ?? RESULT };
      expect(step(state, eventFrom(event)).state).toMatchObject({
        state: end,
        status,
        outcome,
        attempts,
      });
    }
  }
});

test("WB-42 the first event that ends a handoff wins", () => {
  const { accepted } = openStates();
  const enders: Given[] = [
    { type: "result" },
    { type: "result", status: 500, digest: OTHER },
    { type: "cancel" },
    { type: "parent_ended" },
    { type: "expire", at: DEADLINE },
    { type: "dead_letter" },
  ];
  for (const first of enders) {
    const ended = follow(accepted, first);
    expect(ended.state).not.toBe("open");
    for (const second of enders.filter((each) => each !== first)) {
      expect(refused(ended, second), `${second.type} after ${first.type}`).toBe(410);
    }
  }
});

test("WB-42 a repetition of the ending envelope itself is answered 201", () => {
  expect(refused(endedStates().completed, { type: "result" })).toBe(201);
  expect(refused(endedStates().failed, { type: "result", status: 500 })).toBe(201);
  expect(refused(endedStates().rejected, { type: "reject" })).toBe(201);
  expect(refused(endedStates().cancelled, { type: "cancel" })).toBe(201);
});

test("WB-43 a handoff that is submitted after its deadline is 504 and not accepted", () => {
  for (const at of [DEADLINE, DEADLINE + 1, 10 * DEADLINE]) {
    expect(refused(undefined, { type: "submit", at })).toBe(504);
  }
  expect(after({ type: "submit", at: DEADLINE - 1 }).state).toBe("open");
});

test("WB-43 the same handoff again is 201 and its id with another digest 409, at any time", () => {
  for (const state of Object.values({ ...openStates(), ...endedStates() })) {
    for (const at of [START, DEADLINE, DEADLINE + 1]) {
      expect(refused(state, { type: "submit", at })).toBe(201);
      expect(refused(state, { type: "submit", at, digest: OTHER })).toBe(409);
    }
  }
});

test("WB-44 at most one attempt is not closed", () => {
  const events: Given[] = [
    ...[...BY_RECIPIENT, ...BY_HUB, ...BY_DELEGATOR].map((type) => ({ type })),
    retryable,
    { type: "offer", recipient: "s" },
    { type: "accept", by: "s" },
  ];
  let states = [after(toAnyone)];
  let most = 0;
  for (let length = 1; length <= 4; length++) {
    const found = new Map<string, Handoff>();
    for (const state of states) {
      for (const event of events) {
        for (const attempt of "attempt" in eventFrom(event) ? [1, 2] : [undefined]) {
          const at = START + length * 5_000;
          const next = step(state, eventFrom({ ...event, at, ...(attempt && { attempt }) })).state!;
          const live = next.attempts.filter((each) => each.state !== "closed");
          expect(live.length).toBeLessThanOrEqual(1);
          expect(liveAttempt(next)).toBe(live[0]);
          most = Math.max(most, next.attempts.length);
          found.set(JSON.stringify(next), next);
        }
      }
    }
    states = [...found.values()];
  }
  expect(most).toBeGreaterThan(1);
  for (const state of liveStates()) {
    for (const at of [START, START + 5_000, DEADLINE - 1]) {
      expect(refused(state, { type: "offer", at })).toBe(403);
    }
  }
});

test("WB-45 only the agent that holds an attempt may send events about it", () => {
  for (const [name, state] of Object.entries({ ...openStates(), ...endedStates() })) {
    for (const type of BY_RECIPIENT) {
      for (const by of ["x", "d", "hub"]) {
        expect(refused(state, { type, by }), `${type} by ${by}, ${name}`).toBe(403);
      }
      for (const attempt of [0, 2, -1, Number.NaN]) {
        expect(refused(state, { type, attempt }), `${type} of ${attempt}, ${name}`).toBe(403);
      }
    }
  }
  const second = again(follow(after(toAnyone, offer, accept), retryable), "s");
  const at = START + 1_000;
  expect(refused(second, { type: "result", attempt: 2, by: "r", at })).toBe(403);
  expect(refused(second, { type: "result", attempt: 1, by: "s", at })).toBe(403);
});

test("WB-45 only the delegator may cancel, answer and acknowledge", () => {
  for (const [name, state] of Object.entries({ ...openStates(), ...endedStates() })) {
    for (const type of BY_DELEGATOR) {
      for (const by of ["x", "r", "hub"]) {
        expect(refused(state, { type, by }), `${type} by ${by}, ${name}`).toBe(403);
      }
    }
  }
});

test("WB-45 knowing an id gives no right", () => {
  const { submitted } = openStates();
  for (const type of [...BY_RECIPIENT, ...BY_HUB, ...BY_DELEGATOR]) {
    expect(refused(undefined, { type }), type).toBe(403);
  }
  for (const digest of [HANDOFF, OTHER]) {
    expect(refused(submitted, { type: "submit", by: "x", digest })).toBe(403);
  }
});

test("WB-130 an agent that is no party gets the answer for an unknown handoff", () => {
  for (const [name, state] of Object.entries({ ...openStates(), ...endedStates() })) {
    for (const type of [...BY_RECIPIENT, ...BY_DELEGATOR]) {
      for (const at of [START, DEADLINE, DEADLINE + 1]) {
        const event = eventFrom({ type, by: "x", at });
        const [known, unknown] = [state, undefined].map((each) =>
          answerOf(step(each, event).effects),
        );
        expect(known, `${type} at ${at}, ${name}`).toBe(unknown);
      }
    }
  }
});

test("WB-46 a recipient that names another digest than the handoff's is answered 409", () => {
  const { paused } = openStates();
  const signed = BY_RECIPIENT.filter((type) => "re" in eventFrom({ type }));
  expect(signed).toHaveLength(7);
  for (const state of [...liveStates(), paused, endedStates().completed]) {
    for (const type of signed) expect(refused(state, { type, re: OTHER }), type).toBe(409);
  }
});

test("WB-47 an event for a closed attempt changes nothing and is answered 410", () => {
  const { offered, accepted, paused } = openStates();
  const closed: Record<string, Handoff> = {
    released: follow(accepted, { type: "release" }),
    paused,
    failed: follow(accepted, retryable),
    interrupted: follow(accepted, { type: "result", status: 501 }),
    lost: follow(accepted, { type: "lease_lost", at: START + TERMS.leaseMs }),
    unreached: follow(offered, { type: "unreachable", at: START + TERMS.offerMs }),
  };
  for (const [name, state] of Object.entries(closed)) {
    const isPaused = name === "paused";
    for (const one of isPaused ? [state] : [state, again(state)]) {
      for (const type of [...BY_RECIPIENT, "unreachable", "lease_lost"] as Name[]) {
        const at = START + 5_000;
        expect(refused(one, { type, at }), `${type} of what was ${name}`).toBe(410);
      }
    }
  }
});

test("WB-55 at its deadline an open handoff becomes a dead letter, 504", () => {
  for (const state of Object.values(openStates())) {
    expect(dueEvent(state, DEADLINE)).toEqual({ type: "expire", at: DEADLINE });
    expect(wakeAt(state)).toBeLessThanOrEqual(DEADLINE);
    expect(refused(state, { type: "expire", at: DEADLINE - 1 })).toBe(403);
    const dead = follow(state, { type: "expire", at: DEADLINE });
    expect(dead).toMatchObject({ state: "dead_lettered", status: 504, outcome: null });
    expect(liveAttempt(dead)).toBeUndefined();
  }
});

test("WB-55 a result at or after the deadline does not complete the handoff, even if the timer is late", () => {
  const { accepted } = openStates();
  for (const at of [DEADLINE, DEADLINE + 1, 10 * DEADLINE]) {
    const { state, effects } = step(accepted, eventFrom({ type: "result", at }));
    expect(state).toMatchObject({ state: "dead_lettered", status: 504, outcome: null });
    expect(answerOf(effects)).toBe(410);
    expect(effects).toContainEqual({ type: "ended", state: "dead_lettered", status: 504 });
  }
  expect(follow(accepted, { type: "result", at: DEADLINE - 1 }).state).toBe("completed");
});

test("WB-55 a completion after the deadline is found in the history", () => {
  const writer = new HistoryWriter();
  writer.submit("h");
  writer.hub("h", { type: "offer", recipient: "r" });
  writer.result("h");
  const last = writer.entries.at(-1)!;
  const late = { ...last, at: last.at + 60_000 } as typeof last;
  const { violations } = checkHistory([...writer.entries.slice(0, -1), late]);
  expect(violations.map(({ rule }) => rule)).toContain("completed_late");
  expect(checkHistory(writer.entries).holds).toBe(true);
});

test("WB-56 a rejection ends the handoff as failed", () => {
  const { offered } = openStates();
  for (const status of [403, 404, 406, 413, 422, 500] as const) {
    const ended = follow(offered, { type: "reject", status });
    expect(ended, `${status}`).toMatchObject({ state: "failed", status, outcome: RESULT });
  }
  for (const status of [400, 401, 413, 422, 499, 500] as const) {
    const ended = follow(after(toAnyone, offer), { type: "reject", status });
    expect(ended, `${status}, picked`).toMatchObject({ state: "failed", status });
  }
});

test("WB-56 if the hub picked the recipient, it asks another one after 403, 404 and 406", () => {
  for (const status of [403, 404, 406] as const) {
    const open = follow(after(toAnyone, offer), { type: "reject", status });
    expect(open.state, `${status}`).toBe("open");
    const next = again(open, "s");
    expect(liveAttempt(next)?.recipient).toBe("s");
  }
});

test("WB-57 a cancellation ends an open handoff as cancelled, 499", () => {
  for (const state of Object.values(openStates())) {
    const { state: ended, effects } = step(state, eventFrom({ type: "cancel" }));
    expect(ended).toMatchObject({ state: "cancelled", status: 499, outcome: CANCEL });
    const live = liveAttempt(state);
    const stop = { type: "stop", attempt: 1, recipient: "r", status: 499 };
    if (live !== undefined) expect(effects).toContainEqual(stop);
  }
});

test("WB-57 a cancellation reaches the children: the hub is told of the end, and ends them too", () => {
  const { accepted } = openStates();
  const { effects } = step(accepted, eventFrom({ type: "cancel" }));
  expect(effects.at(-1)).toEqual({ type: "ended", state: "cancelled", status: 499 });
  for (const child of Object.values(openStates())) {
    const { state, effects: ofChild } = step(child, eventFrom({ type: "parent_ended" }));
    expect(state).toMatchObject({ state: "cancelled", status: 499, outcome: null });
    // With the same status, so that it goes on to the child's own children.
    expect(ofChild.at(-1)).toEqual({ type: "ended", state: "cancelled", status: 499 });
  }
});

test("WB-57 the open members of a decided group end like a child, and those of other groups do not", () => {
  const job = (end: (writer: HistoryWriter) => void) => {
    const writer = new HistoryWriter();
    for (const index of [0, 1, 2]) {
      writer.submit(`m${index}`, { group: { id: "g", index, size: 3, join: "all" } });
    }
    end(writer);
    writer.hub("m2", { type: "group_decided" });
    return checkHistory(writer.entries).violations.map(({ rule }) => rule);
  };
  expect(job((writer) => writer.cancel("m0"))).toEqual([]);
  expect(job(() => undefined)).toEqual(["group_not_decided"]);
  for (const member of Object.values(openStates())) {
    const { state } = step(member, eventFrom({ type: "group_decided" }));
    expect(state).toMatchObject({ state: "cancelled", status: 499, outcome: null });
  }
});

test("WB-57 a child that no cancellation reached is found in the history", () => {
  const job = (isReached: boolean) => {
    const writer = new HistoryWriter();
    writer.submit("p");
    writer.submit("c", { parent_id: "p" });
    writer.cancel("p");
    if (isReached) writer.hub("c", { type: "parent_ended" });
    return checkHistory(writer.entries, { isComplete: true }).violations;
  };
  expect(job(true)).toEqual([]);
  expect(job(false).map(({ rule, handoffId }) => [rule, handoffId])).toEqual([
    ["never_ended", "c"],
  ]);
});

test("WB-58 an acknowledgement is a receipt of status 200 that names the ending envelope", () => {
  const re = `sha256:${"c".repeat(64)}`;
  const { envelope, digest } = readWith("receipt", { re, body: { status: 200 } });
  const event = eventOf(envelope, digest, START);
  expect(event).toMatchObject({ type: "acknowledge", by: envelope.from, outcome: re });
  for (const name of ["completed", "failed", "rejected", "cancelled"] as const) {
    const state = endedStates()[name];
    const outcome = state.outcome!;
    expect(refused(state, { type: "acknowledge", outcome: OTHER }), name).toBe(409);
    const acknowledged = follow(state, { type: "acknowledge", outcome });
    expect(acknowledged.isAcknowledged).toBe(true);
    expect(refused(acknowledged, { type: "acknowledge", outcome })).toBe(201);
    expect(refused(acknowledged, { type: "acknowledge", outcome: OTHER })).toBe(409);
  }
});

test("WB-58 a dead letter is acknowledged with the digest of the notice about it", () => {
  const { expired, deadLettered, parentEnded } = endedStates();
  for (const state of [expired, deadLettered, parentEnded]) {
    expect(state.outcome).toBeNull();
    const notice = { type: "acknowledge", outcome: OTHER } as const;
    const acknowledged = follow(state, notice);
    expect(acknowledged.isAcknowledged).toBe(true);
    expect(refused(acknowledged, notice)).toBe(201);
  }
});

test("WB-58 only an ended handoff can be acknowledged: otherwise 403", () => {
  for (const state of Object.values(openStates())) {
    for (const at of [START, DEADLINE]) {
      expect(refused(state, { type: "acknowledge", at })).toBe(403);
      expect(refused(state, { type: "acknowledge", outcome: HANDOFF, at })).toBe(403);
    }
  }
});

test("WB-59 an offer before its time is refused with 403", () => {
  const { accepted } = openStates();
  const failed = follow(accepted, { ...retryable, retryAfterMs: 7_000 });
  const due = START + 7_000;
  expect(failed.nextAttemptAt).toBe(due);
  expect(isOfferDue(failed, due - 1)).toBe(false);
  expect(refused(failed, { type: "offer", at: due - 1 })).toBe(403);
  expect(isOfferDue(failed, due)).toBe(true);
  expect(follow(failed, { type: "offer", at: due }).attempts).toHaveLength(2);
});

test("WB-59 an offer to another agent than the handoff is bound to is refused with 403", () => {
  const { submitted } = openStates();
  expect(refused(submitted, { type: "offer", recipient: "s" })).toBe(403);
  expect(follow(after(toAnyone), { type: "offer", recipient: "s" }).attempts).toHaveLength(1);
});

test("WB-59 an offer while an attempt is under way is refused with 403", () => {
  const { paused } = openStates();
  for (const state of [...liveStates(), paused]) {
    for (const at of [START, DEADLINE - 1]) {
      expect(refused(state, { type: "offer", at })).toBe(403);
    }
  }
});
