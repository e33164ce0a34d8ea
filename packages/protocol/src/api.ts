export { endedKeyAdvice, newKeyAdvice } from "./manifest/key-advice.ts";
export type { HandoffView } from "./api/view.ts";
export type { AttemptView, WaitReason, WaitsFor, WireHandoffView } from "./api/wire-view.ts";
export { readHandoffView, writeHandoffView } from "./api/view.ts";
export { readDelivery, writeDelivery } from "./api/delivery.ts";
export type { Delivery, ReceivedAt, WireDelivery } from "./api/delivery.ts";
export {
  manifestPages,
  readManifestsQuery,
  readPublished,
  writePublished,
} from "./api/published.ts";
export type { PublishedManifest, PublishedPage } from "./api/published.ts";
export type { ManifestsQuery, WirePublished } from "./api/wire-published.ts";
export { checkQuota, QUOTA_LIMITS, QUOTA_MINUTE_MS } from "./api/quota.ts";
export type { Quota, QuotaUse } from "./api/quota.ts";
export { untakenError } from "./api/untaken.ts";
export type { Untaken } from "./api/untaken.ts";
export { readFindQuery, readFound, writeFindQuery, writeFound } from "./api/found.ts";
export type { WireFindQuery, WireFit, WireFound, WireNames, WireSearch } from "./api/wire-found.ts";

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
} from "./api/blob.ts";
export type { BlobPart, BlobUpload, NamedBlob, WireBlobUpload } from "./api/blob.ts";
export { DELTA_CHARACTERS, isNextDelta, readerOfDelta, writeDelta } from "./api/delta.ts";
export type {
  Delta,
  HeldAttempt,
  LastDelta,
  ShownDelta,
  WireDelta,
  WireShownDelta,
} from "./api/delta.ts";

export { checkDomain, hubIdOf } from "./api/domain.ts";
export { checkHello, readHello, signHello } from "./api/hello.ts";
export type { Hello, HelloFacts } from "./api/hello.ts";
export {
  checkRequest,
  checkRequestBody,
  checkRequestKey,
  checkRequestLine,
  readRequest,
  REQUEST_SCHEME,
  signRequest,
} from "./api/request-proof.ts";
export type { ReadRequest, RequestClaim, RequestFacts } from "./api/request-proof.ts";

export {
  newOperatorToken,
  OPERATOR_SCHEME,
  operatorTokenDomain,
  readOperatorRequest,
  signOperatorRequest,
} from "./api/operator-proof.ts";
export type { OperatorClaim } from "./api/operator-proof.ts";
export { defaultNewcomers, entryOf, NEWCOMERS } from "./api/newcomers.ts";
export type { EntryWay, Newcomer, Newcomers } from "./api/newcomers.ts";
export {
  checkEnrolment,
  checkInvitation,
  newInvitation,
  readEnrolment,
  readInvitation,
  signEnrolment,
  wrongInvitation,
} from "./api/invitation.ts";
export type { EnrolmentClaim, InvitationFacts, ReadEnrolment } from "./api/invitation.ts";

export { isInnerAddress } from "./api/inner-address.ts";
export { checkEcho, inboxContactAt, readPush, readPushAnswer, writePush } from "./api/push.ts";
export type { InboxFailure, InboxWaits, Push } from "./api/push.ts";
export type { PushAnswer, WirePush } from "./api/wire-push.ts";

export {
  CALLS,
  joinFrames,
  messageCharacters,
  readAgentFrames,
  readHubFrames,
  textOf,
} from "./api/frame.ts";
export type { AgentFrame, CallName, FrameLimits, HubFrame, SocketLimits } from "./api/frame.ts";

export {
  errorOfResponse,
  HTTP_STATUS,
  PROBLEM_TYPE,
  readProblem,
  writeProblem,
} from "./api/problem.ts";
export type { Problem } from "./api/problem.ts";
export { fromBase64url, toBase64url } from "#platform";
export { checked } from "./api/checked.ts";
export { InFlight } from "./in-flight.ts";
export { shapes } from "./api/shapes.ts";
export type { Shapes } from "./api/shapes.ts";
export { httpShapes, jsonSchemaOf } from "./api/http-shapes.ts";
export type {
  HttpShapes,
  Shape,
  WireDeadLetter,
  WireEntry,
  WireGroup,
  WireInboxNews,
  WireInboxQuery,
  WireInvitation,
  WirePresence,
  WireWellKnown,
} from "./api/http-shapes.ts";
