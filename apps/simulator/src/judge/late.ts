import { eventOf, liveAttempt, step } from "@waybill/protocol/hub";
import type { HistoryEntry } from "@waybill/protocol/audit";
import type { Attempt, Handoff } from "@waybill/protocol/hub";
import { STARTS_AT } from "../world/start.ts";
import type { World } from "../world/world.ts";
import type { Found } from "./verdict.ts";

/** How late the hub may be with something that is due, while nothing hinders it. */
const SLACK_MS = 5_000;

interface Closed {
  readonly attempt: Attempt;
  readonly at: number;
  /** When anything was last heard about it, as far as the ledger knows. */
  readonly heardAt: number;
}

interface AttemptSpan {
  readonly parentId: string | undefined;
  state: Handoff;
  heardAt: number;
  endedAt: number | undefined;
  readonly closed: Closed[];
}

/**
 * What happened too late. The reducer can't detect this: to it, a sleeping hub is as correct as any
 * other. During faults nothing has a bound, so all spans are counted from the end of the faults.
 */
export function lateEnds(world: World, history: readonly HistoryEntry[]): Found[] {
  const lives = livesOf(history);
  const { faultsUntilMs, skewMs } = world.scenario;
  const calmSince = STARTS_AT + faultsUntilMs;
  const slackMs = SLACK_MS + 2 * skewMs;
  const found: Found[] = [];
  const check = (rule: string, handoffId: string, at: number, due: number, what: string) => {
    const lateMs = at - Math.max(due, calmSince) - slackMs;
    if (lateMs > 0) found.push({ rule, handoffId, message: `${what}, ${lateMs} ms too late.` });
  };
  for (const [id, { state, parentId, endedAt, closed }] of lives) {
    const { deadline, terms } = state;
    if (endedAt === undefined) continue;
    check("deadline_not_kept", id, endedAt, deadline, "It ended after its deadline");
    const parentEndedAt = lives.get(parentId ?? "")?.endedAt ?? Infinity;
    check("child_not_cancelled", id, endedAt, parentEndedAt, `It outlived its parent ${parentId}`);
    for (const { attempt, at, heardAt } of closed) {
      const { number } = attempt;
      if (attempt.state === "waiting") continue;
      const lastSign = world.signsOfLife.get(`${id}/${number}`) ?? 0;
      const heard = Math.max(lastSign, heardAt, calmSince);
      check(
        "silence_not_noticed",
        id,
        at,
        heard + spanOf(attempt, terms),
        `Attempt ${number} was closed`,
      );
    }
  }
  return found;
}

/** How long an attempt may be silent. A hub that was down and heard nothing grants the time again. */
function spanOf({ state, isTaken }: Attempt, terms: Handoff["terms"]): number {
  if (!isTaken) return terms.offerMs + terms.graceMs;
  return 2 * (state === "offered" ? terms.graceMs : terms.leaseMs);
}

function livesOf(history: readonly HistoryEntry[]): Map<string, AttemptSpan> {
  const lives = new Map<string, AttemptSpan>();
  for (const entry of history) {
    if (entry.type === "envelope") {
      const event = eventOf(entry.envelope, entry.digest, entry.at);
      const { handoff_id: id } = entry.envelope;
      if (event === undefined || (entry.status ?? 100) >= 300) continue;
      const bound =
        event.type === "submit" ? { ...event, terms: { ...event.terms, ...entry.terms } } : event;
      const parentId = entry.envelope.kind === "handoff" ? entry.envelope.parent_id : undefined;
      follow(lives, id, parentId, bound);
    } else if (entry.type === "event") {
      follow(lives, entry.handoff_id, undefined, { ...entry.event, at: entry.at });
    }
  }
  return lives;
}

function follow(
  lives: Map<string, AttemptSpan>,
  id: string,
  parentId: string | undefined,
  event: Parameters<typeof step>[1],
): void {
  const life = lives.get(id);
  const { state } = step(life?.state, event);
  if (state === undefined || state === life?.state) return;
  if (life === undefined) {
    lives.set(id, { parentId, state, heardAt: event.at, endedAt: undefined, closed: [] });
    return;
  }
  const attempt = liveAttempt(life.state);
  const isClosed = attempt !== undefined && state.attempts[attempt.number - 1]?.state === "closed";
  if (isClosed) life.closed.push({ attempt, at: event.at, heardAt: life.heardAt });
  if (life.state.state === "open" && state.state !== "open") life.endedAt = event.at;
  life.state = state;
  life.heardAt = event.at;
}
