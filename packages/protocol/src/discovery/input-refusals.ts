import { utf8 } from "#platform";
import { matchesVersion } from "../manifest/capability.ts";
import type { Capability } from "../manifest/capability.ts";
import { stringifyJson } from "../json/json.ts";
import type { Json } from "../json/json.ts";
import { SCHEMA_LIMITS } from "../schema/schema.ts";
import type { CheckBudget } from "../schema/schema.ts";
import type { Candidate } from "./discovery.ts";
import type { InputIssue, InputRefusal } from "./input-refusal.ts";
import { inputVerdicts, verdictOn } from "./input-verdicts.ts";
import type { InputVerdicts } from "./input-verdicts.ts";

/** The part of a handoff that decides who can take its input. */
export interface GivenInput {
  readonly input?: Json | undefined;
  /** Whether it has words, in a brief or in messages. */
  readonly hasWords?: boolean | undefined;
  readonly version?: string | undefined;
  readonly tags?: readonly string[] | undefined;
}

/** What the candidates say about one input. */
export interface InputJudgement {
  /** True if a candidate takes the input, or may take it because its check was not finished. */
  readonly mayBeTaken: boolean;
  readonly refusals: readonly InputRefusal[];
}

/** The budget of judging an input, and what is already known about it. */
export interface JudgeInputOptions {
  /** The steps that the checks may take together, by default 20,000,000. */
  readonly budget?: CheckBudget | undefined;
  /** Verdicts of an earlier query about the same input. New ones are added. */
  readonly verdicts?: InputVerdicts | undefined;
}

/**
 * Finds which candidates refuse this input. Agents that are not trusted, and capabilities in another
 * version or without a required tag, are no candidates. The search ends with the first candidate that
 * takes the input.
 */
export function judgeInput(
  given: GivenInput,
  offering: readonly Candidate[],
  options: JudgeInputOptions = {},
): InputJudgement {
  const slices = judgeInSlices(given, offering, options);
  for (;;) {
    const slice = slices.next();
    if (slice.done === true) return slice.value;
  }
}

/** The same in slices of at most one schema check each. */
export function* judgeInSlices(
  given: GivenInput,
  offering: readonly Candidate[],
  {
    budget = { stepsLeft: SCHEMA_LIMITS.querySteps },
    verdicts = new Map(),
  }: JudgeInputOptions = {},
): Generator<void, InputJudgement> {
  const candidates = offering.filter((each) => isWanted(each, given));
  const { input } = given;
  if (input === undefined) {
    return judged(candidates, ({ capability }) => (needsInput(capability, given) ? NO_INPUT : []));
  }
  const bytes = utf8(stringifyJson(input)).length;
  budget.stepsLeft -= bytes >> 3;
  const issuesOf = (candidate: Candidate) =>
    sizeIssues(candidate.capability, bytes) ?? verdictOn(verdicts, candidate)?.issues;
  const isTaken = () => candidates.some((each) => issuesOf(each)?.length === 0);
  for (const _slice of inputVerdicts(input, candidates, budget, verdicts)) {
    if (isTaken()) return MAY_BE_TAKEN;
    yield;
  }
  return judged(candidates, issuesOf);
}

/** Several refusals as one sentence; agents with the same reason are named together. */
export function refusalText(refusals: readonly InputRefusal[]): string {
  const agents = new Map<string, string[]>();
  for (const { agent_id, issues } of refusals) {
    const text = issuesText(issues);
    agents.set(text, [...(agents.get(text) ?? []), agent_id]);
  }
  return [...agents]
    .map(([text, ids]) => `${namesText([...new Set(ids)])} the input: ${text}`)
    .join(". ");
}

/** The faults of an input, each with its place. */
export function issuesText(issues: readonly InputIssue[]): string {
  return issues.map(issueText).join("; ");
}

const MAY_BE_TAKEN: InputJudgement = { mayBeTaken: true, refusals: [] };
const NO_INPUT: readonly InputIssue[] = [{ at: "", message: "is missing" }];
const NAMES_SHOWN = 3;

function issueText({ at, message }: InputIssue): string {
  return at === "" ? `the input ${message}` : `${at}: ${message}`;
}

function namesText(ids: readonly string[]): string {
  if (ids.length === 1) return `${ids[0]} refuses`;
  const more = ids.length - NAMES_SHOWN;
  if (more <= 0) return `${ids.slice(0, -1).join(", ")} and ${ids.at(-1)} refuse`;
  return `${ids.slice(0, NAMES_SHOWN).join(", ")} and ${more} more refuse`;
}

function isWanted({ trust, capability }: Candidate, { version, tags = [] }: GivenInput): boolean {
  const isVersion = version === undefined || matchesVersion(capability.version, version);
  return trust.isTrusted && isVersion && tags.every((tag) => capability.tags.includes(tag));
}

/** Words without an input can be taken by any capability that takes words. */
function needsInput({ takes, input_schema }: Capability, { hasWords }: GivenInput): boolean {
  const isEnough = hasWords === true && takes !== "structured";
  return !isEnough && Object.keys(input_schema).length > 0;
}

function sizeIssues(
  { max_input_bytes: most }: Capability,
  bytes: number,
): readonly InputIssue[] | undefined {
  if (bytes <= most) return undefined;
  return [{ at: "", message: `has ${bytes} bytes, and at most ${most} are taken` }];
}

/** `issuesOf` returns undefined for a candidate without a verdict. */
function judged(
  candidates: readonly Candidate[],
  issuesOf: (candidate: Candidate) => readonly InputIssue[] | undefined,
): InputJudgement {
  const refusals: InputRefusal[] = [];
  for (const candidate of candidates) {
    const issues = issuesOf(candidate);
    if (issues === undefined || issues.length === 0) return MAY_BE_TAKEN;
    const { agent_id, capability } = candidate;
    const { name, version } = capability;
    refusals.push({ agent_id, capability: name, version, issues });
  }
  return { mayBeTaken: false, refusals };
}
