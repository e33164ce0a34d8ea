import type { Published } from "../room/newsroom.ts";
import type { Chronicle } from "../story/chronicle.ts";
import type { StoryEvent } from "../story/event.ts";
import { QUESTIONS } from "../story/questions.ts";
import type { Proof } from "./proof.ts";

/** A claim of this demo, and whether it holds. */
export interface Check {
  readonly holds: boolean;
  readonly says: string;
}

/** Every number that must be exact, given what has happened. */
export function checksOf(
  proof: Proof,
  published: Published,
  { events }: Pick<Chronicle, "events">,
): readonly Check[] {
  const { figures, ledger, history, signatures, forgeriesOnRecord } = proof;
  const { handoffs, completed, failed, cancelled, dead_lettered, replayed, refused } = figures;
  const { attempted, article } = published;
  const rescued = rescuedIn(events);
  const missed = events.filter(({ event }) => event === "dead_lettered");
  const replays = events.filter(({ event }) => event === "replayed");
  const answered = questionsAnsweredIn(events);
  const asked = events.filter(({ event }) => event === "question").length;
  return [
    {
      holds:
        handoffs > 0 && handoffs === history.handoffs && completed === handoffs - missed.length,
      says: `${handoffs} handoffs, each ended once: ${completed} completed, ${failed} failed, ${cancelled} cancelled, ${dead_lettered} dead-lettered`,
    },
    {
      holds: failed === 0 && cancelled === 0 && answered === QUESTIONS.length && article !== "",
      says: `${answered} of ${QUESTIONS.length} questions answered, and the article is there`,
    },
    {
      holds: rescued.length > 0,
      says: rescued.join("; ") || "nobody has finished what was left behind by who was killed",
    },
    {
      holds: dead_lettered === 1 && missed.length === 1 && replayed === 1 && replays.length === 1,
      says: `${dead_lettered} missed its deadline and became a dead letter; ${replayed} replayed, and completed`,
    },
    {
      holds: asked > 0,
      says: `a person was asked in between, through two other agents`,
    },
    {
      holds: refused === attempted.length && refused > 0 && forgeriesOnRecord === 0,
      says: `${refused} of ${attempted.length} forged results refused, ${forgeriesOnRecord} taken`,
    },
    {
      holds: history.holds,
      says: `the history checker went through ${history.entries} steps: ${figures.violations} violations of P1 to P4`,
    },
    {
      holds: ledger.holds,
      says: ledger.holds
        ? `the ledger holds: ${ledger.entries} entries, chained up to what the hub signed as its end`
        : `the ledger does not hold: ${ledger.message}`,
    },
    { holds: signatures > 0, says: `${signatures} signatures hold, checked here` },
  ];
}

/** Work that a killed process left, and who finished it. */
function rescuedIn(events: readonly StoryEvent[]): readonly string[] {
  const victim = events.find(({ event }) => event === "killed")?.who;
  const holders = new Map<string, string>();
  const left = new Set<string>();
  const rescued = new Map<string, string[]>();
  for (const { event, handoff_id: id = "", to, about, who, tone } of events) {
    if (event === "offered" && to !== undefined) holders.set(id, to);
    if (event === "lease_lost" && holders.get(id) === victim) left.add(id);
    if (event === "result" && tone === "good" && left.delete(id)) {
      rescued.set(who, [...(rescued.get(who) ?? []), about!]);
    }
  }
  if (left.size > 0) return [];
  return [...rescued].map(
    ([who, abouts]) =>
      `${victim} was killed in the middle of ${abouts.join(" and ")}; ${who} finished what was left`,
  );
}

function questionsAnsweredIn(events: readonly StoryEvent[]): number {
  const answered = events.flatMap(({ event, about = "", tone }) =>
    event === "result" && tone === "good" ? (/^question \d+/.exec(about) ?? []) : [],
  );
  return new Set(answered).size;
}
