export { createAgent } from "./agent.ts";
export type { Agent, AgentOptions, StopOptions } from "./agent.ts";
export { loadKey } from "./key-file.ts";
export { DEFAULT_TIMEOUT_MS } from "./delegating/options.ts";
export type { AttachOptions, HandoffOptions } from "./delegating/options.ts";
export type { HandoffHandle } from "./delegating/handle.ts";
export type { ProgressEvent, QuestionEvent, Receipt } from "./delegating/events.ts";
export { counterOf } from "./delegating/counter.ts";
export type { CounterOffer, CounterRule } from "./delegating/counter.ts";
export type { HandoffResult } from "./delegating/ending.ts";
export type { GroupHandle, GroupOptions, GroupResult, JoinRule } from "./delegating/group.ts";
export type { Ask, Handler, Resume, Work } from "./serving/work.ts";
export type { FullResult, Returned } from "./serving/outcome.ts";
export type { AgentLogEvent, Log } from "./log.ts";
export { systemClock } from "./clock.ts";
export type { Clock } from "./clock.ts";
export type {
  Attachment,
  AttachRequest,
  AttemptView,
  Delivery,
  HandoffView,
  Hub,
  PublishedManifest,
  ReceivedAt,
} from "./hub.ts";
