export { createHandoff, createReply } from "./create.ts";
export type { HandoffInput, ReplyInput, Source } from "./create.ts";
export { signEnvelope, signEnvelopes } from "./sign-envelope.ts";
export { checkEnvelope, parseEnvelope, verifyEnvelope } from "./verify-envelope.ts";
export type { VerifiedEnvelope, VerifyOptions } from "./verify-envelope.ts";
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
} from "./envelope.ts";
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
} from "./body.ts";

export { generateKey, privateKeyFrom, publicKeyFrom, thumbprint } from "./key.ts";
export type { PrivateJwk, PrivateKey, PublicJwk, PublicKey } from "./key.ts";
export { digestOf, digestOfBytes, isDigest } from "./digest.ts";
export type { Digest } from "./digest.ts";
export { idSource, idTime, isId, newId } from "./id.ts";
export type { IdSource, IdSourceOptions } from "./id.ts";
export { isTime, parseTime } from "./time.ts";
export { parseJson, stringifyJson } from "./json.ts";
export type { Json } from "./json.ts";

export { signManifest, verifyManifest } from "./manifest.ts";
export type { VerifiedManifest, VerifyManifestOptions } from "./manifest.ts";
export { parseManifest } from "./manifest-schema.ts";
export type {
  CapabilityInput,
  KeyValidity,
  Manifest,
  ManifestInput,
  ManifestKey,
} from "./manifest-schema.ts";
export { isKeyValidAt, keyring } from "./keyring.ts";
export type { Keyring, KeyRecord } from "./keyring.ts";
export { decideTrust } from "./trust.ts";
export type { TrustDecision, TrustPolicy, TrustSource, TrustSubject, Vouched } from "./trust.ts";
export { isAgentId } from "./agent-id.ts";
export { CAPABILITY_DEFAULTS, isCapabilityName, matchesVersion } from "./capability.ts";
export type { Capability, Effects, Example, Takes } from "./capability.ts";
export { asUntrusted, describeForModel } from "./untrusted.ts";
export { compileSchema, normalizeSchema, schemaFrom } from "./schema.ts";
export type { CompiledSchema, JsonSchema, SchemaIssue } from "./schema.ts";

export { findCandidates, queryOf, reasonsAgainst, wantedFits } from "./discovery.ts";
export type { Candidate, FindQuery, Found, LeftOut, RankedCandidate } from "./discovery.ts";
export {
  EJECTION,
  isEjected,
  isSuccess,
  NO_STATS,
  recordOutcome,
  wilsonLowerBound,
} from "./reliability.ts";
export type { Outcome, ReliabilityStats } from "./reliability.ts";
export {
  effectiveContract,
  judgeCounter,
  judgeOffer,
  termsOf,
  toLifecycleTerms,
} from "./contract.ts";
export type {
  BoundContract,
  Contract,
  CounterVerdict,
  OfferLimits,
  OfferVerdict,
} from "./contract.ts";
export { breaches } from "./breach.ts";
export type { AttemptFacts, Breach, HandoffFacts } from "./breach.ts";

export { step } from "./lifecycle.ts";
export { liveAttempt } from "./attempt.ts";
export { checkHistory } from "./history.ts";
export type { HistoryEntry, HistoryOptions, HistoryReport, Violation } from "./history.ts";
export { ATTEMPT_MOVES, CLOSE_REASONS, HANDOFF_MOVES } from "./transitions.ts";
export type { AttemptState, CloseReason, HandoffState, Party } from "./transitions.ts";
export { eventOf } from "./event.ts";
export { dueEvent, isOfferDue, wakeAt } from "./timer.ts";
export { DEFAULT_TERMS } from "./handoff.ts";
export type {
  Attempt,
  Handoff,
  LifecycleEffect,
  LifecycleEvent,
  LifecycleTerms,
  Question,
  Step,
} from "./handoff.ts";

export { STATUS, isFailure, isStatusCode, statusOf } from "./status.ts";
export type { Retry, Status, StatusCode, StatusName } from "./status.ts";
export { WaybillError } from "./error.ts";
export type { WaybillErrorOptions } from "./error.ts";
export { readCompact, signCompact, signCompactBatch, verifyCompact } from "./jws.ts";
export { batchRoots } from "./batch.ts";
export type { BatchRoots } from "./batch.ts";
export { LIMITS } from "./limits.ts";
export type { Limits } from "./limits.ts";
