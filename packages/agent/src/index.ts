// What an application imports, in the order in which it needs it.
export { createAgent } from "./agent.ts";
export type { Agent, AgentOptions, StopOptions } from "./agent.ts";
export type { Unconfirmed } from "./link/outgoing.ts";
export { loadKey } from "./identity/key-file.ts";

export { capability } from "./capability/capability.ts";
export type {
  CapabilityDeclaration,
  CapabilityOptions,
  CapabilityTerms,
  InputOf,
  OutputOf,
  QuestionSchemas,
  ReadInputOf,
  ReturnOf,
} from "./capability/capability.ts";
export type { SchemaInput, SchemaOutput, StandardSchema } from "./capability/standard-schema.ts";
export type { JsonCompatible, JsonLike } from "./capability/json-like.ts";

export type { Ask, Handler, Progress, ReceivedBody, Resume, Work } from "./serving/work.ts";
export type {
  DeclaredAsk,
  DeclaredAsking,
  DeclaredHandler,
  DeclaredWork,
  HandlerOf,
  Servable,
} from "./serving/declared.ts";
export type { FullResult, Returned } from "./serving/outcome.ts";
export type { WorkSession } from "./serving/session.ts";

export { INLINE_ARTIFACT_BYTES } from "./artifacts/artifacts.ts";
export type {
  ArtifactBytes,
  ArtifactFile,
  ArtifactStream,
  GivenArtifact,
} from "./artifacts/given.ts";
export { DEFAULT_BYTES_LIMIT } from "./artifacts/received.ts";
export type { ReadOptions, ReceivedArtifact, WaitOptions } from "./artifacts/received.ts";

export { DEFAULT_TIMEOUT_MS } from "./delegating/options.ts";
export type { AttachOptions, HandoffOptions, SessionOptions } from "./delegating/options.ts";
export type { DeclaredHandoffOptions, Delegator } from "./delegating/delegator.ts";
export type { Answer, HandoffHandle, QuestionOf } from "./delegating/handoff-handle.ts";
export type { DeltaEvent, ProgressEvent, QuestionEvent, Receipt } from "./delegating/events.ts";
export type { HandoffResult } from "./delegating/ending.ts";
export type { HandoffUsage } from "./delegating/usage.ts";
export { DEFAULT_CONCURRENCY } from "./delegating/fan-out.ts";
export type { FanOutOptions, Settled } from "./delegating/fan-out.ts";
export type { GroupHandle, GroupOptions, GroupResult, JoinRule } from "./delegating/group.ts";
export { counterOf } from "./delegating/counter.ts";
export type { CounterOffer, CounterRule } from "./delegating/counter.ts";

export type { AgentLogEvent, Log } from "./log.ts";
export type { Clock } from "@waybill/protocol/wire";
export type {
  BlobContent,
  BlobPut,
  BlobRead,
  Blobs,
  BlobSigner,
  Hub,
} from "@waybill/protocol/wire";

// Re-exported, so that an application rarely needs another package.
export { generateKey, newId, WaybillError } from "@waybill/protocol";
export type {
  CapabilityInput,
  Json,
  Message,
  PrivateKey,
  SessionState,
  StatusCode,
  UsageRow,
  UsageTotal,
} from "@waybill/protocol";
