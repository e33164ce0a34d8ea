export { storeSuite } from "./store/suite.ts";
export type {
  DurableStoreSubject,
  StoreCase,
  StoreContents,
  StoreProcess,
  StoreSubject,
  StoreSuiteOptions,
} from "./store/subject.ts";
