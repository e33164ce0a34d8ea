export type {
  Attachment,
  AttachRequest,
  BlobContent,
  BlobPut,
  BlobRead,
  Blobs,
  BlobSigner,
  Hub,
} from "./wire/hub.ts";
export { endedKeyAdvice, newKeyAdvice } from "./manifest/key-advice.ts";
export type { HandoffView } from "./wire/view.ts";
export type { AttemptView, WaitReason, WaitsFor, WireHandoffView } from "./wire/wire-view.ts";
export { readHandoffView, writeHandoffView } from "./wire/view.ts";
export { readDelivery } from "./wire/delivery.ts";
export type { Delivery, ReceivedAt } from "./wire/delivery.ts";
export {
  manifestPages,
  readManifestsQuery,
  readPublished,
  writePublished,
} from "./wire/published.ts";
export type { PublishedManifest, PublishedPage } from "./wire/published.ts";
export type { ManifestsQuery, WirePublished } from "./wire/wire-published.ts";
export { checkQuota } from "./wire/quota.ts";
export type { Quota, QuotaUse } from "./wire/quota.ts";
export { untakenError } from "./wire/untaken.ts";
export type { Untaken } from "./wire/untaken.ts";
export { readFindQuery, readFound, writeFindQuery, writeFound } from "./wire/found.ts";
export type {
  WireFindQuery,
  WireFit,
  WireFound,
  WireNames,
  WireSearch,
} from "./wire/wire-found.ts";

export {
  blobKeptUntil,
  blobPath,
  blobsIn,
  blobUploadPath,
  checkBlob,
  checkBlobPart,
  checkNamedBlob,
  checkUploadedBlob,
  readBlobUpload,
  readContentRange,
  readRange,
  writeBlobUpload,
  writeContentRange,
} from "./wire/blob.ts";
export type { BlobPart, BlobUpload, NamedBlob, WireBlobUpload } from "./wire/blob.ts";
export { DELTA_CHARACTERS, isNextDelta, readerOfDelta, writeDelta } from "./wire/delta.ts";
export type {
  Delta,
  HeldAttempt,
  LastDelta,
  ShownDelta,
  WireDelta,
  WireShownDelta,
} from "./wire/delta.ts";

export { checkDomain, hubIdOf } from "./wire/domain.ts";
export { checkHello, readHello, signHello } from "./wire/hello.ts";
export type { Hello, HelloFacts } from "./wire/hello.ts";
export {
  checkRequest,
  checkRequestBody,
  checkRequestKey,
  checkRequestLine,
  readRequest,
  signRequest,
} from "./wire/request-proof.ts";
export type { ReadRequest, RequestClaim, RequestFacts } from "./wire/request-proof.ts";
export { discardPath, verifyDiscard } from "./wire/discard.ts";
export type { Discard, SignedRequest } from "./wire/discard.ts";

export {
  newOperatorToken,
  OPERATOR_SCHEME,
  operatorTokenDomain,
  readOperatorRequest,
  signOperatorRequest,
} from "./wire/operator-proof.ts";
export type { OperatorClaim } from "./wire/operator-proof.ts";
export { defaultNewcomers, admissionOf, NEWCOMERS } from "./wire/newcomers.ts";
export type { AdmissionWay, Newcomer, Newcomers } from "./wire/newcomers.ts";
export {
  checkEnrolment,
  checkInvitation,
  newInvitation,
  readEnrolment,
  readInvitation,
  signEnrolment,
  wrongInvitation,
} from "./wire/invitation.ts";
export type { EnrolmentClaim, InvitationFacts, ReadEnrolment } from "./wire/invitation.ts";

export { isInnerAddress } from "./wire/inner-address.ts";
export { checkEcho, inboxContactAt, readPush, readPushAnswer, writePush } from "./wire/push.ts";
export type { InboxFailure, InboxWaits, Push } from "./wire/push.ts";
export type { PushAnswer, WirePush } from "./wire/wire-push.ts";

export {
  CALLS,
  joinFrames,
  messageCharacters,
  readAgentFrames,
  readHubFrames,
  readSubmission,
  textOf,
} from "./wire/frame.ts";
export type {
  AgentFrame,
  CallName,
  FrameLimits,
  HubFrame,
  SocketLimits,
  Submission,
} from "./wire/frame.ts";

export {
  errorOfResponse,
  HTTP_STATUS,
  PROBLEM_TYPE,
  readProblem,
  writeProblem,
} from "./wire/problem.ts";
export type { Problem } from "./wire/problem.ts";
export { fromBase64url, toBase64url } from "#platform";
export { checked } from "./wire/checked.ts";
export { BoundedCache } from "./bounded-cache.ts";
export { InFlight } from "./in-flight.ts";
export { systemClock } from "./system-clock.ts";
export type { Clock } from "./system-clock.ts";
export { shapes } from "./wire/shapes.ts";
export type { Shapes } from "./wire/shapes.ts";
export { httpShapes, jsonSchemaOf } from "./wire/http-shapes.ts";
export type {
  ConsoleRole,
  HttpShapes,
  Shape,
  WireConsoleSession,
  WireDeadLetter,
  WireEntry,
  WireGroup,
  WireInboxNews,
  WireInboxQuery,
  WireInvitation,
  WirePresence,
  WireWellKnown,
} from "./wire/http-shapes.ts";
export { formatTime } from "./time.ts";
