export { createHandoff, createReply } from "./envelope/create.ts";
export type { HandoffInput, ReplyInput, Source } from "./envelope/create.ts";
export { newSalt } from "./envelope/salt.ts";
export { signEnvelope, signEnvelopes } from "./envelope/sign-envelope.ts";
export { parseEnvelope, verifyEnvelope } from "./envelope/verify-envelope.ts";
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
  ListedHandoff,
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
  RefusedHandoff,
  ResultBody,
  ResultError,
  Wanted,
} from "./envelope/body.ts";

export { isSessionId, notASessionId, SESSION_WAIT_SECONDS, sessionKey } from "./session.ts";
export type { Session, SessionState } from "./session.ts";

export { generateKey, privateKeyFrom, publicKeyFrom, thumbprint } from "./signing/key.ts";
export type { PrivateJwk, PrivateKey, PublicJwk, PublicKey } from "./signing/key.ts";
export { digestOf, digestOfBytes, isDigest, runningDigest } from "./signing/digest.ts";
export type { Digest, RunningDigest } from "./signing/digest.ts";
export { digestOfJws } from "./signing/jws.ts";
export type { SignedText } from "./signing/jws.ts";
export { derivedId, idSource, idTime, isId, newId } from "./id.ts";
export type { IdSource, IdSourceOptions } from "./id.ts";
export { isTime, parseTime } from "./time.ts";
export { parseJson, stringifyJson } from "./json/json.ts";
export type { Json } from "./json/json.ts";

export { signManifest, verifyManifest } from "./manifest/manifest.ts";
export type { VerifiedManifest, VerifyManifestOptions } from "./manifest/manifest.ts";
export { parseManifest } from "./manifest/manifest-schema.ts";
export type {
  CapabilityInput,
  KeyValidity,
  Manifest,
  ManifestInput,
  ManifestKey,
} from "./manifest/manifest-schema.ts";
export { checkChain, knownManifest } from "./manifest/chain.ts";
export type { KnownManifest } from "./manifest/chain.ts";
export { provenKey, provenRecoveryKey } from "./manifest/possession.ts";
export { signRecovery } from "./manifest/recovery.ts";
export type { ProvenKey } from "./manifest/possession.ts";
export { isKeyValidAt } from "./manifest/key-record.ts";
export type { Keyring, KeyRecord } from "./manifest/key-record.ts";
export { keyRecords, keyring } from "./manifest/keyring.ts";
export { vouchesForKey } from "./manifest/trust.ts";
export type { TrustPolicy, Vouched } from "./manifest/trust.ts";
export { isAgentId } from "./manifest/agent-id.ts";
export { isCapabilityName, matchesVersion } from "./manifest/capability.ts";
export type { Capability, Effects, Example, Takes } from "./manifest/capability.ts";
export { askerOf, checkMayActFor, isOnBehalfOf, isPrincipal, principalOf } from "./principal.ts";
export { takesFrom } from "./manifest/takes-from.ts";
export type { Asker, TakesFrom } from "./manifest/takes-from.ts";
export { asUntrusted, describeForModel } from "./manifest/untrusted.ts";
export { compileSchema, normalizeSchema, schemaFrom } from "./schema/schema.ts";
export type {
  CheckBudget,
  CompiledSchema,
  CompileOptions,
  JsonSchema,
  SchemaIssue,
  SchemaSide,
} from "./schema/schema.ts";

export { mergeFound } from "./discovery/discovery.ts";
export type { FindQuery, Found, LeftOut, RankedCandidate } from "./discovery/discovery.ts";
export { judgeCounter, judgeOffer, termsOf } from "./contract/contract.ts";
export type {
  BoundContract,
  Contract,
  CounterVerdict,
  OfferLimits,
  OfferVerdict,
} from "./contract/contract.ts";
export { mergeUsage, sumUsage, USAGE_COUNTS, usageRows } from "./usage/usage.ts";
export type { Usage, UsageRow, UsageTotal } from "./usage/usage.ts";
export { readUsageRow } from "./usage/usage-schema.ts";
export type { Money } from "./usage/money.ts";
export { sessionFound } from "./lifecycle/holder.ts";
export type { HandoffState } from "./lifecycle/transitions.ts";
export { isGroupOver, judgeGroup } from "./lifecycle/group.ts";
export type { GroupVerdict, JoinRule } from "./lifecycle/group.ts";

export { STATUS, isFailure, isStatusCode, statusOf } from "./status.ts";
export type { Retry, Status, StatusCode, StatusName } from "./status.ts";
export { WaybillError } from "./error.ts";
export type { WaybillErrorOptions } from "./error.ts";
export { readCompact, signCompact, verifyCompact } from "./signing/jws.ts";
export { batchRoots } from "./signing/batch.ts";
export type { BatchRoots } from "./signing/batch.ts";
export { LIMITS } from "./limits.ts";
export type { Limits } from "./limits.ts";
