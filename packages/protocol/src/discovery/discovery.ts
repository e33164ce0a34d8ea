import { utf8 } from "#platform";
import type { Wanted } from "../envelope/body.ts";
import { compareVersions, matchesVersion } from "../manifest/capability.ts";
import type { Capability } from "../manifest/capability.ts";
import { stringifyJson } from "../json/json.ts";
import type { Json } from "../json/json.ts";
import {
  decayed,
  isEjected,
  MEASURING,
  NO_STATS,
  wilsonLowerBound,
  wilsonUpperBound,
} from "./reliability.ts";
import type { ReliabilityStats } from "./reliability.ts";
import { SCHEMA_LIMITS } from "../schema/schema.ts";
import type { CheckBudget, CompiledSchema } from "../schema/schema.ts";
import { inputVerdicts, verdictOf } from "./input-verdicts.ts";
import type { InputVerdicts } from "./input-verdicts.ts";
import { rankByWords } from "./words.ts";
import type { TrustDecision } from "../manifest/trust.ts";

/** What `findCandidates` looks for. */
export interface FindQuery {
  readonly capability: string;
  /** The actual input, which must match the candidate's input schema. */
  readonly input?: Json | undefined;
  readonly version?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  /** In how many seconds the work must be done. */
  readonly within?: number | undefined;
  readonly minReliability?: number | undefined;
  /** Plain words: candidates that mention them most come first. They never decide who fits. */
  readonly words?: string | undefined;
  /** Where to continue: `next` of the previous answer. */
  readonly after?: string | undefined;
  /** How many candidates are considered for one answer. */
  readonly limit?: number | undefined;
}

/** One capability of one agent, with what the hub knows about it at this moment. */
export interface Candidate {
  readonly agent_id: string;
  readonly capability: Capability;
  readonly trust: TrustDecision;
  readonly stats?: ReliabilityStats | undefined;
  /** How many handoffs of this capability it is working on. */
  readonly inFlight?: number | undefined;
  /** How much more room it has announced. */
  readonly credit?: number | undefined;
  /** The compiled input schema, if available: the same object for equal schemas. */
  readonly inputSchema?: Pick<CompiledSchema, "check"> | undefined;
}

/**
 * The first criterion of the order. `good`: as reliable as the best, as far as measurements tell.
 * `worse`: measurements show that others are more reliable. `ejected`: it failed several times in a
 * row.
 */
export type Standing = "good" | "worse" | "ejected";

/** A fitting candidate, with what its rank rests on. */
export interface RankedCandidate {
  readonly agent_id: string;
  readonly capability: Capability;
  /** The lower bound of its success rate, from 0 to 1, by recent measurements. */
  readonly reliability: number;
  readonly isMeasured: boolean;
  /** Whether measurements contradict its claim. */
  readonly isContradicted: boolean;
  readonly standing: Standing;
  /** How many handoffs of this capability it is working on. */
  readonly inFlight?: number | undefined;
  /** How many more it would take; undefined if it is not connected. */
  readonly credit?: number | undefined;
  /** How long it takes on average; undefined if unknown. */
  readonly meanMs?: number | undefined;
  /** It ranks behind others by its record, and has had no outcome for so long that it gets a trial. */
  readonly isDueForTrial?: boolean | undefined;
  /** Why it ranks behind the one before it; undefined for the first. */
  readonly behind?: string | undefined;
  readonly reasons: readonly string[];
}

/** A candidate that does not fit, and why. */
export interface LeftOut {
  readonly agent_id: string;
  readonly capability: string;
  readonly version: string;
  readonly reasons: readonly string[];
}

/** The result: fitting candidates, best first, and why the others do not fit. */
export interface Found {
  /** Best first. */
  readonly fits: readonly RankedCandidate[];
  readonly leftOut: readonly LeftOut[];
  /** Where to continue: there are more candidates than were considered. */
  readonly next?: string | undefined;
}

export type { InputVerdicts } from "./input-verdicts.ts";

/** How measurements are compared. */
const WEIGHING = {
  /** An agent below this share of the best one's lower bound counts as worse. */
  worseBelow: 0.9,
  /** With fewer outcomes than this a claim is never regarded as contradicted. */
  outcomesToContradict: 5,
  /** An agent of worse standing gets a trial after so long: only that shows whether it works again. */
  trialAfterMs: 30_000,
} as const;

/** The budget of one search, and what is already known about its input. */
export interface FindOptions {
  /** The steps that all checks of the input may take together, by default 20,000,000. */
  readonly budget?: CheckBudget | undefined;
  /** Verdicts of an earlier query about the same input. New ones are added. */
  readonly verdicts?: InputVerdicts | undefined;
}

/**
 * Ranks the candidates that fit, best first, and gives the reasons of the others. Pure: the same facts
 * give the same answer. All schema checks share one budget; candidates that it does not suffice for
 * are left out, too.
 */
export function findCandidates(
  query: FindQuery,
  candidates: readonly Candidate[],
  now: number,
  options: FindOptions = {},
): Found {
  const slices = findInSlices(query, candidates, now, options);
  for (;;) {
    const slice = slices.next();
    if (slice.done === true) return slice.value;
  }
}

/** The same in slices of at most one schema check each, so that the caller can do other work in between. */
export function* findInSlices(
  query: FindQuery,
  candidates: readonly Candidate[],
  now: number,
  { budget = { stepsLeft: SCHEMA_LIMITS.querySteps }, verdicts = new Map() }: FindOptions = {},
): Generator<void, Found> {
  const inputBytes = bytesOf(query.input);
  budget.stepsLeft -= inputBytes >> 3;
  const trials = candidates.map((candidate) => assess({ query, candidate, now, inputBytes }));
  if (query.input !== undefined) {
    yield* inputVerdicts(query.input, inCheckOrder(trials), budget, verdicts);
  }
  const fits: Weighed[] = [];
  const leftOut: LeftOut[] = [];
  for (const trial of trials) {
    const { agent_id, capability } = trial.candidate;
    const reasons = reasonsOf(trial, query, verdicts);
    if (reasons.length === 0) fits.push({ agent_id, capability, ...trial.weight });
    else
      leftOut.push({ agent_id, capability: capability.name, version: capability.version, reasons });
  }
  const inOrder = ranked(withStanding(fits));
  return {
    fits: query.words === undefined ? inOrder : rankByWords(inOrder, query.words),
    leftOut: leftOut.sort(
      (a, b) =>
        byText(a.agent_id, b.agent_id) ||
        byText(a.capability, b.capability) ||
        byText(a.version, b.version),
    ),
  };
}

/** Merges the pages of one query into one answer, best first. */
export function mergeFound(pages: readonly Found[], words?: string): Found {
  const inOrder = ranked(pages.flatMap(({ fits }) => fits));
  const next = pages.at(-1)?.next;
  return {
    fits: words === undefined ? inOrder : rankByWords(inOrder, words),
    leftOut: pages.flatMap(({ leftOut }) => leftOut),
    ...(next === undefined ? {} : { next }),
  };
}

/** The query of a handoff that is addressed to a capability. */
export function queryOf(
  { capability, version, tags, min_reliability }: Wanted,
  handoff: Pick<FindQuery, "input" | "within"> = {},
): FindQuery {
  return { capability, version, tags, minReliability: min_reliability, ...handoff };
}

/** A candidate, and what speaks against it but for its schema. */
interface Assessment {
  readonly candidate: Candidate;
  readonly weight: Weight;
  /** Whether it offers the requested capability: otherwise no other reason is worth giving. */
  readonly isOfName: boolean;
  /** Reasons before and after that of its schema, in order. */
  readonly before: readonly string[];
  readonly after: readonly string[];
}

interface Facts {
  readonly query: FindQuery;
  readonly candidate: Candidate;
  readonly now: number;
  readonly inputBytes: number;
}

function assess(facts: Facts): Assessment {
  const { query, candidate, now } = facts;
  const weight = weigh(candidate, now);
  const { name } = candidate.capability;
  if (name !== query.capability) {
    const before = [`it offers ${name}, not ${query.capability}`];
    return { candidate, weight, isOfName: false, before, after: [] };
  }
  const reasons = (filters: typeof BEFORE_SCHEMA) =>
    filters.flatMap((filter) => filter(facts, weight) ?? []);
  return {
    candidate,
    weight,
    isOfName: true,
    before: reasons(BEFORE_SCHEMA),
    after: reasons(AFTER_SCHEMA),
  };
}

function reasonsOf(
  { candidate, isOfName, before, after }: Assessment,
  { input }: FindQuery,
  verdicts: InputVerdicts,
): readonly string[] {
  if (input === undefined || !isOfName) return [...before, ...after];
  return [...before, ...verdictOf(verdicts, candidate), ...after];
}

/**
 * The order of the schema checks: candidates without another reason against them first, then by
 * record, and one version of each agent before the second of any, so that many versions do not crowd
 * out other agents.
 */
function inCheckOrder(trials: readonly Assessment[]): Candidate[] {
  const versions = new Map<string, number>();
  const isOut = ({ before, after }: Assessment) => before.length + after.length > 0;
  return trials
    .filter(({ isOfName }) => isOfName)
    .sort((a, b) => b.weight.reliability - a.weight.reliability || byPlace(a, b))
    .map((trial) => {
      const { agent_id } = trial.candidate;
      const turn = (versions.get(agent_id) ?? 0) + 1;
      versions.set(agent_id, turn);
      return { trial, turn };
    })
    .sort((a, b) => Number(isOut(a.trial)) - Number(isOut(b.trial)) || a.turn - b.turn)
    .map(({ trial }) => trial.candidate);
}

function byPlace({ candidate: a }: Assessment, { candidate: b }: Assessment): number {
  return (
    byText(a.agent_id, b.agent_id) ||
    compareVersions(b.capability.version, a.capability.version) ||
    byText(a.capability.version, b.capability.version)
  );
}

/** The reasons against a candidate, in words for people who wonder why it is missing. */
type Filter = (facts: Facts, weight: Weight) => string | undefined;

const BEFORE_SCHEMA: readonly Filter[] = [
  ({ candidate: { trust } }) =>
    trust.isTrusted ? undefined : `it is not trusted: ${trust.reason}`,
  ({ query: { version }, candidate: { capability } }) =>
    version === undefined || matchesVersion(capability.version, version)
      ? undefined
      : `it offers version ${capability.version}, and ${version} is wanted`,
  ({ query: { tags = [] }, candidate: { capability } }) => {
    const missing = tags.filter((tag) => !capability.tags.includes(tag));
    return missing.length === 0 ? undefined : `it lacks the tags ${missing.join(", ")}`;
  },
];

const AFTER_SCHEMA: readonly Filter[] = [
  ({ candidate: { capability }, inputBytes }) =>
    inputBytes <= capability.max_input_bytes
      ? undefined
      : `the input has ${inputBytes} bytes, and it takes at most ${capability.max_input_bytes}`,
  ({ query: { within }, candidate: { capability } }) =>
    within === undefined || capability.timeout_seconds <= within
      ? undefined
      : `it may need ${capability.timeout_seconds} s, and there are ${within}`,
  ({ candidate: { capability, inFlight = 0 } }) =>
    inFlight < (capability.concurrency ?? Infinity)
      ? undefined
      : `it has ${inFlight} handoffs in progress, and takes ${capability.concurrency} at once`,
  ({ candidate: { credit = Infinity } }) =>
    credit > 0 ? undefined : "it has no credit left: it takes nothing more at the moment",
  ({ query: { minReliability = 0 } }, { reliability, reasons }) =>
    reliability >= minReliability
      ? undefined
      : `its reliability counts as ${shareText(reliability)}, and ${minReliability} is wanted: ${reasons.join("; ")}`,
];

type Weight = Omit<RankedCandidate, "agent_id" | "capability" | "standing"> & {
  /** The upper bound of its success rate, by recent measurements. */
  readonly possible: number;
  readonly isEjected: boolean;
};
type Weighed = Weight & Pick<RankedCandidate, "agent_id" | "capability">;

function weigh(candidate: Candidate, now: number): Weight {
  const { capability, stats = NO_STATS, inFlight, credit } = candidate;
  const claim = capability.reliability_sla;
  const { successes, failures } = decayed(stats, now);
  const { prior } = MEASURING;
  const counted = successes + prior.successes;
  const total = counted + failures + prior.failures;
  const reliability = wilsonLowerBound(counted, total);
  const possible = wilsonUpperBound(counted, total);
  const outcomes = successes + failures;
  const isMeasured = outcomes > 0;
  const isContradicted =
    outcomes >= WEIGHING.outcomesToContradict && wilsonUpperBound(successes, outcomes) < claim;
  const out = isEjected(stats, now);
  const restedMs = now - (stats.measuredAt ?? now);
  const isDueForTrial = !out && (inFlight ?? 0) === 0 && restedMs >= WEIGHING.trialAfterMs;
  const reasons = [
    isMeasured
      ? `${weightText(successes)} of ${weightText(outcomes)} recent outcomes were successes: at least ${shareText(reliability)}, against a claim of ${claim}`
      : `no results measured yet: ranked as ${shareText(reliability)}, like every newcomer`,
    ...(isContradicted ? ["its claim is false and counts for nothing"] : []),
    ...(out
      ? [
          `it failed ${stats.consecutiveFailures} times in a row, and comes after all others until ${timeText(stats.ejectedUntil!)}`,
        ]
      : []),
    loadText(candidate),
  ];
  return {
    reliability,
    possible,
    isMeasured,
    isContradicted,
    isEjected: out,
    isDueForTrial,
    inFlight,
    credit,
    meanMs: stats.meanMs ?? undefined,
    reasons,
  };
}

function loadText({ inFlight = 0, credit, stats }: Candidate): string {
  if (credit === undefined) return "it is not connected: work waits until it is";
  const each = stats?.meanMs == null ? "" : `, about ${Math.round(stats.meanMs)} ms each`;
  return `${inFlight} in progress, room for ${credit} more${each}`;
}

/** Whether it is clearly less reliable than the best: then it comes later, whatever room it has. */
function withStanding(fits: readonly Weighed[]): RankedCandidate[] {
  const best = Math.max(...fits.map((fit) => (fit.isEjected ? 0 : fit.reliability)));
  return fits.map(({ possible, isEjected: isOut, isDueForTrial, ...fit }) => {
    const isWorse = possible < WEIGHING.worseBelow * best;
    const standing: Standing = isOut ? "ejected" : isWorse ? "worse" : "good";
    const reasons = isWorse && !isOut ? [...fit.reasons, "others are more reliable"] : fit.reasons;
    const isTried = isWorse && isDueForTrial === true;
    return { ...fit, standing, ...(isTried && { isDueForTrial }), reasons };
  });
}

type Order = (a: RankedCandidate, b: RankedCandidate) => number;

const STANDINGS: readonly Standing[] = ["good", "worse", "ejected"];

/**
 * The order of fitting candidates: the first row that distinguishes two decides, and says why one is
 * behind.
 */
const ORDER: readonly (readonly [order: Order, behind: string])[] = [
  [
    (a, b) => STANDINGS.indexOf(a.standing) - STANDINGS.indexOf(b.standing),
    "what was measured of it is clearly worse",
  ],
  // Within one standing work spreads: more free room comes first.
  [(a, b) => loadClass(a) - loadClass(b), "fewer of its places are free"],
  // Terms by rough size: a promise that is a second shorter must not outweigh a record.
  [
    (a, b) => termsClass(a.capability) - termsClass(b.capability),
    "it may take at least twice as long by its terms",
  ],
  [(a, b) => b.reliability - a.reliability, "less can be counted on"],
  [(a, b) => Number(a.isContradicted) - Number(b.isContradicted), "its claim is false"],
  [(a, b) => (a.meanMs ?? Infinity) - (b.meanMs ?? Infinity) || 0, "it is slower"],
  [
    (a, b) => a.capability.timeout_seconds - b.capability.timeout_seconds,
    "it may take longer by its terms",
  ],
  [(a, b) => byText(a.agent_id, b.agent_id), "they are alike, and its id comes later"],
  [
    (a, b) => compareVersions(b.capability.version, a.capability.version),
    "its version is an earlier one",
  ],
  [(a, b) => byText(a.capability.version, b.capability.version), "its version comes later"],
];

/** How busy it is, in quarters of its room; agents that are not connected come last. */
function loadClass({ inFlight = 0, credit }: RankedCandidate): number {
  if (credit === undefined) return 5;
  return Math.ceil((4 * inFlight) / Math.max(1, inFlight + credit));
}

function compareFits(a: RankedCandidate, b: RankedCandidate): number {
  for (const [order] of ORDER) {
    const difference = order(a, b);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** The candidates in order, each but the first with the reason why it is behind the one before. */
function ranked(fits: readonly RankedCandidate[]): RankedCandidate[] {
  const sorted = [...fits].sort(compareFits);
  return sorted.map(({ behind: _before, ...fit }, index) => {
    const before = sorted[index - 1];
    const row = before && ORDER.find(([order]) => order(before, fit) !== 0);
    return row === undefined ? fit : { ...fit, behind: row[1] };
  });
}

/** Timeouts within a factor of two count as equal. */
function termsClass({ timeout_seconds }: Capability): number {
  return Math.ceil(Math.log2(timeout_seconds));
}

// By code units: an order by locale would differ between machines.
function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function bytesOf(input: Json | undefined): number {
  return input === undefined ? 0 : utf8(stringifyJson(input)).length;
}

function shareText(share: number): string {
  return share.toFixed(2);
}

/** A decayed count for people: without a fraction if it is whole. */
function weightText(weight: number): string {
  return Number.isInteger(weight) ? String(weight) : weight.toFixed(1);
}

function timeText(at: number): string {
  return new Date(at).toISOString();
}
