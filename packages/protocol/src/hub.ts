export { step } from "./lifecycle/lifecycle.ts";
export { eventOf } from "./lifecycle/event.ts";
export { dueEvent, isOfferDue, wakeAt } from "./lifecycle/timer.ts";
export { liveAttempt } from "./lifecycle/attempt.ts";
export { DEFAULT_TERMS } from "./lifecycle/handoff.ts";
export type {
  Attempt,
  Handoff,
  LifecycleEffect,
  LifecycleEvent,
  LifecycleTerms,
  Question,
  Step,
} from "./lifecycle/handoff.ts";
export { ATTEMPT_MOVES, CLOSE_REASONS, HANDOFF_MOVES } from "./lifecycle/transitions.ts";
export type { AttemptState, CloseReason, Party } from "./lifecycle/transitions.ts";
export { toLifecycleTerms } from "./contract/contract.ts";
export { queuePlace } from "./lifecycle/queue.ts";
export { isAddressed } from "./lifecycle/addressee.ts";
export type { AddressedHandoff } from "./lifecycle/addressee.ts";
export { sessionHolderOf, isHolderFirst, sessionOffered } from "./lifecycle/holder.ts";

export { findCandidates, findInSlices, queryOf } from "./discovery/discovery.ts";
export type { Candidate, FindOptions, InputVerdicts, Standing } from "./discovery/discovery.ts";
export { chooseCandidate } from "./discovery/choice.ts";
export { rankByWords } from "./discovery/words.ts";
export { issuesText, judgeInput, judgeInSlices, refusalText } from "./discovery/input-refusals.ts";
export type { GivenInput, InputJudgement, JudgeInputOptions } from "./discovery/input-refusals.ts";
export type { InputIssue, InputRefusal } from "./discovery/input-refusal.ts";
export { EJECTION, isEjected, NO_STATS, recordOutcome } from "./discovery/reliability.ts";
export type { Outcome, ReliabilityStats } from "./discovery/reliability.ts";

export { checkSchemas } from "./manifest/manifest-schema.ts";
export type { SchemaHandling } from "./manifest/manifest-schema.ts";
export { restoreManifest } from "./manifest/manifest.ts";
export { decideTrust } from "./manifest/trust.ts";
export type { TrustDecision, TrustSource, TrustSubject } from "./manifest/trust.ts";
export { isReservedId } from "./manifest/reserved-id.ts";
export { CAPABILITY_DEFAULTS, isGroupName } from "./manifest/capability.ts";
export { audiencesFor, audiencesOf, EVERYBODY } from "./manifest/audience.ts";
export { SCHEMA_LIMITS, schemaAllowance } from "./schema/schema.ts";
export type { SchemaAllowance } from "./schema/schema.ts";
export { signCompactBatch, signPayloads } from "./signing/jws.ts";
