export { createHandoff, createReply } from "./envelope/create.ts";
export type { HandoffInput, ReplyInput, Source } from "./envelope/create.ts";
export { signEnvelope, signEnvelopes } from "./envelope/sign-envelope.ts";
export { checkEnvelope, parseEnvelope, verifyEnvelope } from "./envelope/verify-envelope.ts";
export type { VerifiedEnvelope, VerifyOptions } from "./envelope/verify-envelope.ts";
export type {
  AnswerEnvelope,
  CancelEnvelope,
  Envelope,
  EnvelopeKind,
  Group,
  HandoffEnvelope,
  NoticeEnvelope,
  ProgressEnvelope,
  QuestionEnvelope,
  ReceiptEnvelope,
  ResultEnvelope,
} from "./envelope/envelope.ts";
export type {
  AnswerBody,
  Artifact,
  AskedQuestion,
  Brief,
  CancelBody,
  ContentPart,
  HandoffBody,
  Message,
  NoticeBody,
  ProgressBody,
  QuestionBody,
  ReceiptBody,
  ResultBody,
  ResultError,
  Wanted,
} from "./envelope/body.ts";

export {
  isSessionId,
  notASessionId,
  SESSION_STATES,
  SESSION_WAIT_SECONDS,
  sessionKey,
} from "./session.ts";
export type { Session, SessionState } from "./session.ts";

export { generateKey, privateKeyFrom, publicKeyFrom, thumbprint } from "./signing/key.ts";
export type { PrivateJwk, PrivateKey, PublicJwk, PublicKey } from "./signing/key.ts";
export { digestOf, digestOfBytes, isDigest, runningDigest } from "./signing/digest.ts";
export type { Digest, RunningDigest } from "./signing/digest.ts";
export { derivedId, idSource, idTime, isId, newId } from "./id.ts";
export type { IdSource, IdSourceOptions } from "./id.ts";
export { isTime, parseTime } from "./time.ts";
export { parseJson, stringifyJson } from "./json/json.ts";
export type { Json } from "./json/json.ts";

export { restoreManifest, signManifest, verifyManifest } from "./manifest/manifest.ts";
export type { VerifiedManifest, VerifyManifestOptions } from "./manifest/manifest.ts";
export { checkSchemas, parseManifest } from "./manifest/manifest-schema.ts";
export type {
  CapabilityInput,
  KeyValidity,
  Manifest,
  ManifestInput,
  ManifestKey,
  SchemaHandling,
} from "./manifest/manifest-schema.ts";
export { checkChain, knownManifest } from "./manifest/chain.ts";
export type { KnownManifest } from "./manifest/chain.ts";
export { provenKey, provenRecoveryKey } from "./manifest/possession.ts";
export { signRecovery } from "./manifest/recovery.ts";
export type { ProvenKey } from "./manifest/possession.ts";
export { isKeyValidAt } from "./manifest/key-record.ts";
export type { Keyring, KeyRecord } from "./manifest/key-record.ts";
export { keyRecords, keyring } from "./manifest/keyring.ts";
export { decideTrust, vouchesForKey } from "./manifest/trust.ts";
export type {
  TrustDecision,
  TrustPolicy,
  TrustSource,
  TrustSubject,
  Vouched,
} from "./manifest/trust.ts";
export { isAgentId } from "./manifest/agent-id.ts";
export { isReservedId } from "./manifest/reserved-id.ts";
export {
  CAPABILITY_DEFAULTS,
  isCapabilityName,
  isGroupName,
  matchesVersion,
} from "./manifest/capability.ts";
export type { Capability, Effects, Example, Takes } from "./manifest/capability.ts";
export { audiencesFor, audiencesOf, EVERYBODY } from "./manifest/audience.ts";
export { takesFrom } from "./manifest/takes-from.ts";
export type { Asker, TakesFrom } from "./manifest/takes-from.ts";
export { asUntrusted, describeForModel } from "./manifest/untrusted.ts";
export {
  compileSchema,
  normalizeSchema,
  SCHEMA_LIMITS,
  schemaAllowance,
  schemaFrom,
} from "./schema/schema.ts";
export type {
  CheckBudget,
  CompiledSchema,
  CompileOptions,
  JsonSchema,
  SchemaAllowance,
  SchemaIssue,
  SchemaSide,
} from "./schema/schema.ts";

export {
  findCandidates,
  findInSlices,
  mergeFound,
  queryOf,
  reasonsAgainst,
  wantedFits,
} from "./discovery/discovery.ts";
export { PRIORITIES, queuePlace } from "./lifecycle/queue.ts";
export { issuesText, judgeInput, judgeInSlices, refusalText } from "./discovery/input-refusals.ts";
export type { GivenInput, InputJudgement, JudgeInputOptions } from "./discovery/input-refusals.ts";
export type { InputIssue, InputRefusal } from "./discovery/input-refusal.ts";
export { chooseCandidate } from "./discovery/choice.ts";
export type {
  Candidate,
  FindOptions,
  FindQuery,
  Found,
  InputVerdicts,
  LeftOut,
  RankedCandidate,
  Standing,
} from "./discovery/discovery.ts";
export { rankByWords } from "./discovery/words.ts";
export {
  EJECTION,
  isEjected,
  isSuccess,
  NO_STATS,
  recordOutcome,
  wilsonLowerBound,
} from "./discovery/reliability.ts";
export type { Outcome, ReliabilityStats } from "./discovery/reliability.ts";
export {
  effectiveContract,
  judgeCounter,
  judgeOffer,
  termsOf,
  toLifecycleTerms,
} from "./contract/contract.ts";
export type {
  BoundContract,
  Contract,
  CounterVerdict,
  OfferLimits,
  OfferVerdict,
} from "./contract/contract.ts";
export { mergeUsage, sumUsage, totalUsage, USAGE_COUNTS, usageRows } from "./usage/usage.ts";
export type { Usage, UsageRow, UsageTotal } from "./usage/usage.ts";
export { readUsageRow } from "./usage/usage-schema.ts";
export type { Money } from "./usage/money.ts";
export { breaches } from "./contract/breach.ts";
export type { AttemptFacts, Breach, HandoffFacts } from "./contract/breach.ts";

export { step } from "./lifecycle/lifecycle.ts";
export { holderBy, isHolderFirst, sessionFound, sessionOffered } from "./lifecycle/holder.ts";
export { liveAttempt } from "./lifecycle/attempt.ts";
export { checkHistory } from "./history/history.ts";
export type {
  HistoryEntry,
  HistoryOptions,
  HistoryReport,
  HubEvent,
  RuleName,
  Violation,
} from "./history/history.ts";
export { ATTEMPT_MOVES, CLOSE_REASONS, HANDOFF_MOVES } from "./lifecycle/transitions.ts";
export type { AttemptState, CloseReason, HandoffState, Party } from "./lifecycle/transitions.ts";
export { isGroupOver, judgeGroup } from "./lifecycle/group.ts";
export type { GroupVerdict, JoinRule } from "./lifecycle/group.ts";
export { isAddressed } from "./lifecycle/addressee.ts";
export { jobOf } from "./lifecycle/apart.ts";
export type { Root } from "./lifecycle/apart.ts";
export type { AddressedHandoff } from "./lifecycle/addressee.ts";
export { eventOf } from "./lifecycle/event.ts";
export { dueEvent, isOfferDue, wakeAt } from "./lifecycle/timer.ts";
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

export { STATUS, isFailure, isStatusCode, statusOf } from "./status.ts";
export type { Retry, Status, StatusCode, StatusName } from "./status.ts";
export { WaybillError } from "./error.ts";
export type { WaybillErrorOptions } from "./error.ts";
export { readCompact, signCompact, signCompactBatch, verifyCompact } from "./signing/jws.ts";
export { batchRoots } from "./signing/batch.ts";
export type { BatchRoots } from "./signing/batch.ts";
export { LIMITS } from "./limits.ts";
export type { Limits } from "./limits.ts";
