import fc from "fast-check";
import { expect, test } from "vitest";
import type { Handoff, LifecycleEvent } from "./handoff.ts";
import { step } from "./lifecycle.ts";
import {
  ANSWER,
  deepFreeze,
  eventFrom,
  HANDOFF,
  OTHER,
  RESULT,
  START,
} from "./lifecycle-fixture.ts";
import { isOfferDue, dueEvent, wakeAt } from "./timer.ts";

const DEADLINE = START + 60_000;
const TERMS = {
  maxAttempts: 3,
  leaseMs: 300,
  offerMs: 200,
  graceMs: 100,
  backoffMs: 40,
  backoffCapMs: 500,
};

type Said = Extract<LifecycleEvent, { by: string; attempt: number }>;
const isSaid = (event: LifecycleEvent): event is Said => "by" in event && "attempt" in event;

/**
 * The rules of the lifecycle, restated as prose would put them: one mutable ledger of facts, and one
 * question at a time. It shares nothing with the reducer but the vocabulary of events.
 */
class Model {
  ended: string | null = null;
  outcome: string | null = null;
  acknowledged = false;
  discarded = false;
  tries: { who: string; how: string; taken: boolean; quiet: number | null; code: number }[] = [];
  asked: { id: string; by: string; attempt: number; answered: string | null }[] = [];
  mayOfferAt: number | null = START;
  /** Set where the reducer may choose a time within these bounds. */
  freedom: [number, number] | null = null;
  pinned: string | null;

  constructor(addressee: string | null) {
    this.pinned = addressee;
    this.addressee = addressee;
  }
  addressee: string | null;
  isResuming = false;

  takeFreedom(): [number, number] | null {
    const { freedom } = this;
    this.freedom = null;
    return freedom;
  }
  get current() {
    const last = this.tries.at(-1);
    return last && ["offered", "accepted", "waiting"].includes(last.how) ? last : undefined;
  }
  get used(): number {
    return this.tries.filter(({ how }) => ["result", "interrupted", "lease_lost"].includes(how))
      .length;
  }
  end(how: string, outcome: string | null): number {
    const open = this.current;
    if (open) Object.assign(open, { how: "superseded", quiet: null });
    Object.assign(this, { ended: how, outcome, mayOfferAt: null });
    return 100;
  }
  close(how: string, code: number): void {
    Object.assign(this.current!, { how, code, quiet: null });
  }
  retry(at: number, wish = 0): number {
    if (this.used >= TERMS.maxAttempts) return this.end("dead_lettered", null);
    const wait = Math.min(TERMS.backoffCapMs, TERMS.backoffMs * 2 ** (this.tries.length - 1));
    const least = Math.max(wait / 2, wish);
    this.freedom = [
      Math.min(at + least, DEADLINE),
      Math.min(at + Math.max(wait, wish) + 1, DEADLINE),
    ];
    return 100;
  }

  tell(event: LifecycleEvent): number {
    const overdueAt = "at" in event && event.at >= DEADLINE && this.ended === null;
    if (overdueAt && !["submit", "acknowledge", "discard"].includes(event.type)) {
      this.end("dead_lettered", null);
      if (event.type === "expire") return 100;
    }
    if (event.type === "submit") {
      if (event.by !== "d") return 403;
      return event.digest === HANDOFF ? 201 : 409;
    }
    if (event.type === "acknowledge") {
      if (event.by !== "d" || this.ended === null) return 403;
      if (this.outcome !== null && this.outcome !== event.outcome) return 409;
      if (this.acknowledged) return 201;
      this.acknowledged = true;
      return 100;
    }
    if (event.type === "discard") {
      if (this.ended !== "dead_lettered") return 403;
      if (this.discarded) return 201;
      this.discarded = true;
      return 100;
    }
    if (event.type === "cancel") {
      if (event.by !== "d") return 403;
      if (this.ended !== null) return event.digest === this.outcome ? 201 : 410;
      return this.end("cancelled", event.digest);
    }
    if (event.type === "answer") return this.answer(event);
    if (event.type === "unreachable" || event.type === "lease_lost") {
      const named = this.tries[event.attempt - 1];
      if (named === undefined) return 403;
      if (named !== this.current) return 410;
      const untouched = named.how === "offered" && !named.taken;
      if (named.quiet === null || event.at < named.quiet) return 403;
      if (untouched !== (event.type === "unreachable")) return 403;
      this.close(event.type, untouched ? 503 : 502);
      return this.retry(event.at);
    }
    if (isSaid(event)) return this.hear(event);
    if (this.ended !== null) return 410;
    if (event.type === "expire") return 403;
    if (event.type === "parent_ended") return this.end("cancelled", null);
    if (event.type === "dead_letter") {
      return event.status < 400 ? 400 : this.end("dead_lettered", null);
    }
    if (event.type !== "offer") return 400;
    if (this.mayOfferAt === null || event.at < this.mayOfferAt) return 403;
    if (this.pinned !== null && this.pinned !== event.recipient) return 403;
    const hasSaidNo = this.tries.some(
      ({ who, how }) => who === event.recipient && how === "rejected",
    );
    if (hasSaidNo) return 403;
    const quiet = event.at + TERMS.offerMs;
    this.tries.push({ who: event.recipient, how: "offered", taken: false, quiet, code: 100 });
    this.mayOfferAt = null;
    return 100;
  }

  answer(event: Extract<LifecycleEvent, { type: "answer" }>): number {
    if (event.by !== "d") return 403;
    const question = this.asked.find(({ id }) => id === event.question);
    if (question === undefined) return 403;
    if (question.answered !== null) return question.answered === event.digest ? 201 : 410;
    const asker = this.tries[question.attempt - 1]!;
    if (this.ended !== null || !["waiting", "paused"].includes(asker.how)) return 410;
    question.answered = event.digest;
    const open = this.asked.some(
      (each) => each.attempt === question.attempt && each.answered === null,
    );
    if (open) return 100;
    if (asker.how === "paused") this.mayOfferAt = event.at;
    else Object.assign(asker, { how: "accepted", quiet: event.at + TERMS.leaseMs });
    return 100;
  }

  hear(event: Said): number {
    const mine = this.tries[event.attempt - 1];
    if (mine === undefined || mine.who !== event.by) return 403;
    if ("re" in event && event.re !== HANDOFF) return 409;
    if (mine !== this.current) {
      return "digest" in event && this.outcome !== null && event.digest === this.outcome
        ? 201
        : 410;
    }
    const before = mine.how;
    switch (event.type) {
      case "taken":
        if (mine.taken) return 201;
        Object.assign(mine, { taken: true, quiet: event.at + TERMS.graceMs });
        return 100;
      case "heartbeat":
        if (before === "accepted") mine.quiet = Math.max(mine.quiet!, event.at + TERMS.leaseMs);
        return 100;
      case "accept":
        if (before !== "offered") return 201;
        Object.assign(mine, { how: "accepted", taken: true, quiet: event.at + TERMS.leaseMs });
        return 100;
      case "progress":
        if (before === "waiting") return 100;
        mine.quiet = Math.max(before === "accepted" ? mine.quiet! : 0, event.at + TERMS.leaseMs);
        Object.assign(mine, { how: "accepted", taken: true });
        return 100;
      case "question":
      case "pause":
        return this.ask(mine, event);
      case "reject":
        if (before !== "offered") return 403;
        if (event.status < 400) return 400;
        this.close("rejected", event.status);
        if (this.addressee === null && !this.isResuming && [403, 404, 406].includes(event.status)) {
          this.mayOfferAt = event.at;
          return 100;
        }
        return this.end("failed", event.digest);
      case "release":
        this.close("released", event.status);
        return this.retry(event.at, event.retryAfterMs);
      case "result":
        return this.conclude(event);
    }
  }

  ask(
    mine: { who: string },
    event: { type: string; at: number; questions: readonly string[] },
  ): number {
    if (event.questions.length === 0) return 400;
    const number = this.tries.length;
    const ids = new Set(event.questions);
    if (this.asked.some((each) => ids.has(each.id) && each.by !== mine.who)) return 409;
    const isNews = [...ids].some((id) => {
      const known = this.asked.find((each) => each.id === id);
      return known === undefined || (known.answered === null && known.attempt !== number);
    });
    if (event.type === "question" && !isNews) return 201;
    for (const id of ids) {
      const known = this.asked.find((each) => each.id === id);
      if (known === undefined)
        this.asked.push({ id, by: mine.who, attempt: number, answered: null });
      else if (known.answered === null) known.attempt = number;
    }
    if (event.type === "question") {
      Object.assign(mine, { how: "waiting", taken: true, quiet: null });
      return 100;
    }
    this.close("paused", 103);
    this.pinned = mine.who;
    this.isResuming = true;
    const open = this.asked.some((each) => each.attempt === number && each.answered === null);
    if (!open) this.mayOfferAt = event.at;
    return 100;
  }

  conclude(event: Extract<LifecycleEvent, { type: "result" }>): number {
    const { status, isRetryable: flag } = event;
    if (status === 200) {
      this.close("result", 200);
      return this.end("completed", event.digest);
    }
    if (status < 400) return 400;
    const isSecond520 = status === 520 && this.tries.slice(0, -1).some(({ code }) => code === 520);
    const byNature = [501, 502, 503, 520].includes(status) && flag !== false && !isSecond520;
    const byFlag = [500, 424].includes(status) && flag === true;
    const worthIt = byNature || byFlag;
    if (status === 501 && worthIt) {
      this.close("interrupted", 501);
      return this.retry(event.at, event.retryAfterMs);
    }
    this.close("result", status);
    if (!worthIt || this.used >= TERMS.maxAttempts) return this.end("failed", event.digest);
    return this.retry(event.at, event.retryAfterMs);
  }
}

/** What can be compared: the reducer's state and the model's, in the same terms. */
function viewOf(state: Handoff) {
  return {
    ended: state.state === "open" ? null : state.state,
    outcome: state.outcome,
    acknowledged: state.isAcknowledged,
    discarded: state.isDiscarded,
    mayOfferAt: state.nextAttemptAt,
    tries: state.attempts.map(({ recipient, state: phase, closed, isTaken, silentAt }) => ({
      who: recipient,
      how: closed ?? phase,
      taken: isTaken,
      quiet: silentAt,
    })),
    asked: state.questions
      .map(({ id, attempt, answer }) => ({ id, attempt, answered: answer }))
      .toSorted((a, b) => a.id.localeCompare(b.id)),
  };
}
function viewOfModel(model: Model): ReturnType<typeof viewOf> {
  const { ended, outcome, acknowledged, discarded, mayOfferAt, tries, asked } = model;
  return {
    ended,
    outcome,
    acknowledged,
    discarded,
    mayOfferAt,
    tries: tries.map(({ who, how, taken, quiet }) => ({ who, how, taken, quiet })),
    asked: asked
      .map(({ id, attempt, answered }) => ({ id, attempt, answered }))
      .toSorted((a, b) => a.id.localeCompare(b.id)),
  } as ReturnType<typeof viewOf>;
}

const oneIn = (n: number): fc.Arbitrary<boolean> => fc.nat(n - 1).map((each) => each === 0);
const statusOfResult = fc.constantFrom(200, 200, 500, 501, 503, 520, 422, 424, 201);
// As often as they are named.
const KINDS = [
  "clock",
  "clock",
  "clock",
  "clock",
  "offer",
  "taken",
  "heartbeat",
  "accept",
  "accept",
  "progress",
  "question",
  "question",
  "pause",
  "pause",
  "answer",
  "answer",
  "answer",
  "reject",
  "release",
  "release",
  "result",
  "result",
  "cancel",
  "acknowledge",
  "unreachable",
  "lease_lost",
  "parent_ended",
  "expire",
  "dead_letter",
  "discard",
  "submit",
] as const;
const plan = fc.record({
  kind: fc.constantFrom(...KINDS),
  isRare: oneIn(6),
  wait: fc.oneof(fc.nat(9), fc.nat(60), fc.nat(400), fc.integer({ min: -300, max: 0 })),
  who: fc.constantFrom("r", "s", "d", "x"),
  isStrange: oneIn(8),
  attempt: fc.integer({ min: 0, max: 5 }),
  isOtherAttempt: oneIn(8),
  isOtherDigest: oneIn(12),
  status: statusOfResult,
  isRetryable: fc.constantFrom(undefined, true, true, false),
  retryAfterMs: fc.constantFrom(undefined, 0, 700, 50_000),
  question: fc.constantFrom("q", "p", "o"),
  questions: fc.array(fc.constantFrom("q", "p", "o"), { maxLength: 3 }),
});
type Plan = typeof plan extends fc.Arbitrary<infer Value> ? Value : never;

/** Turns a plan into an event that is mostly valid, and sometimes wrong in one way. */
function eventOfPlan(state: Handoff, given: Plan, now: number): LifecycleEvent | undefined {
  const { kind, isStrange, isOtherDigest, isRare } = given;
  const isEnding = ["cancel", "parent_ended", "expire", "dead_letter"].includes(kind);
  // Most histories should be long before they end.
  if (isEnding && !(isRare && given.who === "x")) return undefined;
  if (kind === "clock") {
    const wake = wakeAt(state);
    if (wake === null) return undefined;
    const at = isRare ? now : Math.max(now, wake);
    const due = dueEvent(state, at);
    if (due !== undefined) return due;
    if (!isOfferDue(state, at)) return undefined;
    const recipient =
      state.resumes?.recipient ?? state.recipient ?? (given.who === "s" ? "s" : "r");
    return { type: "offer", recipient, at };
  }
  const last = state.attempts.length;
  const attempt = given.isOtherAttempt ? given.attempt : last;
  const holder = state.attempts[attempt - 1]?.recipient ?? "r";
  const digest = isOtherDigest ? OTHER : RESULT;
  const ofDelegator =
    kind === "cancel" || kind === "answer" || kind === "acknowledge" || kind === "submit";
  const by = isStrange ? given.who : ofDelegator ? "d" : holder;
  const { question, questions, isRetryable, retryAfterMs } = given;
  const common = {
    type: kind,
    at: now,
    by,
    attempt,
    re: isOtherDigest ? OTHER : HANDOFF,
    questions,
  };
  switch (kind) {
    case "submit":
      return eventFrom({ type: kind, at: now, by, digest: isOtherDigest ? OTHER : HANDOFF });
    case "offer":
      return { type: kind, recipient: given.who, at: now };
    case "taken":
    case "heartbeat":
    case "unreachable":
    case "lease_lost":
      return { type: kind, by, attempt, at: now };
    case "answer":
      return eventFrom({ ...common, question, digest: isOtherDigest ? OTHER : ANSWER });
    case "reject":
      return eventFrom({ ...common, status: isRare ? 422 : 404, digest });
    case "release":
      return eventFrom({ ...common, status: 301, retryAfterMs });
    case "result":
      return eventFrom({ ...common, status: given.status, digest, isRetryable, retryAfterMs });
    case "acknowledge":
      return eventFrom({ ...common, outcome: isOtherDigest ? OTHER : (state.outcome ?? RESULT) });
    case "cancel":
      return eventFrom({ type: kind, at: now, by, digest: isOtherDigest ? OTHER : "sha256:dd" });
    case "expire":
    case "parent_ended":
    case "discard":
      return { type: kind, at: now };
    case "dead_letter":
      return eventFrom({ type: kind, at: now, status: isStrange ? 200 : 404 });
    default:
      return eventFrom(common);
  }
}

test("long random histories agree with the restated rules, and survive a store on the way", () => {
  const seen = new Map<string, number>();
  fc.assert(
    fc.property(
      fc.constantFrom("r", null),
      fc.array(plan, { minLength: 20, maxLength: 120, size: "max" }),
      (addressee, plans) => {
        const model = new Model(addressee);
        const submit = eventFrom({
          type: "submit",
          recipient: addressee,
          deadline: DEADLINE,
          terms: TERMS,
        });
        let state = deepFreeze(step(undefined, submit).state!);
        let now = START;
        const trail: LifecycleEvent[] = [];
        for (const given of plans) {
          now += given.wait;
          const event = eventOfPlan(state, given, now);
          if (event === undefined) continue;
          trail.push(deepFreeze(event));
          now = Math.max(now, event.at);
          const next = step(state, event);
          const stored = step(JSON.parse(JSON.stringify(state)) as Handoff, event);
          expect(stored).toEqual(next);
          expect(JSON.parse(JSON.stringify(next.state))).toEqual(next.state);
          const reply = model.tell(event);
          const after = next.state!;
          const freedom = model.takeFreedom();
          if (freedom !== null) {
            const [least, most] = freedom;
            expect(after.nextAttemptAt).toBeGreaterThanOrEqual(least);
            expect(after.nextAttemptAt).toBeLessThanOrEqual(most);
            model.mayOfferAt = after.nextAttemptAt;
          }
          const context = JSON.stringify(trail);
          expect(next.effects[0], context).toEqual({ type: "reply", status: reply });
          expect(viewOf(after), context).toEqual(viewOfModel(model));
          if (reply >= 201 && after.state === state.state) expect(after).toBe(state);
          for (const at of [now, wakeAt(after) ?? now, (wakeAt(after) ?? now) - 1]) {
            const isDue = dueEvent(after, at) !== undefined || isOfferDue(after, at);
            expect(isDue).toBe(wakeAt(after) !== null && wakeAt(after)! <= at);
          }
          state = deepFreeze(after);
          seen.set(`${event.type} ${reply}`, (seen.get(`${event.type} ${reply}`) ?? 0) + 1);
        }
        for (const { how } of model.tries) seen.set(how, (seen.get(how) ?? 0) + 1);
        seen.set(state.state, (seen.get(state.state) ?? 0) + 1);
      },
    ),
    { numRuns: 800 },
  );
  // Without these the agreement would mean next to nothing.
  const needed = `
    completed, failed, cancelled, dead_lettered, open, rejected, released, paused, interrupted,
    lease_lost, unreachable, superseded, accept 100, accept 201, answer 100, answer 201, answer 410,
    question 409, pause 100, result 410, acknowledge 100, acknowledge 409, discard 100, submit 201,
    submit 409`;
  for (const each of needed.split(",").map((name) => name.trim())) {
    expect([each, (seen.get(each) ?? 0) > 0]).toEqual([each, true]);
  }
}, 30_000);
