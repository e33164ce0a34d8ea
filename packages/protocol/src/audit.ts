export { checkHistory } from "./history/history.ts";
export type {
  HistoryEntry,
  HistoryOptions,
  HistoryReport,
  HubEvent,
  RuleName,
  Violation,
} from "./history/history.ts";
export { breaches } from "./contract/breach.ts";
export type { AttemptFacts, Breach, HandoffFacts } from "./contract/breach.ts";
export { jobOf } from "./lifecycle/apart.ts";
export type { RootHandoff } from "./lifecycle/apart.ts";
