export { adapterSuite } from "./adapter/suite.ts";
export type { AdapterCase, AdapterSuiteOptions } from "./adapter/suite.ts";
export { pairSuite } from "./adapter/pair.ts";
export type { PairCase } from "./adapter/pair.ts";
export type {
  Act,
  AdapterFixture,
  CallFixture,
  CallRequest,
  OfferRequest,
  PeerFixture,
  Played,
  PlayedUsage,
  ServeFixture,
  Stage,
} from "./adapter/fixture.ts";
export { reportAdapter, reportAsJson, reportAsText, reportsAsMarkdown } from "./adapter/report.ts";
export type { AdapterReport, CaseReport } from "./adapter/report.ts";

export { storeSuite } from "./store/suite.ts";
export type {
  DurableStoreSubject,
  StoreCase,
  StoreContents,
  StoreProcess,
  StoreSubject,
  StoreSuiteOptions,
} from "./store/subject.ts";
