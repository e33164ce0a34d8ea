import type { LedgerEntry, Store, StoredHandoff } from "@waybill/hub/store";

/** What is stored, as seen without asking the store under test. */
export interface StoreContents {
  readonly handoffs: readonly StoredHandoff[];
  readonly entries: readonly LedgerEntry[];
}

/** A store of its own for one case. */
export interface StoreSubject {
  readonly store: Store;
  /**
   * Looks through a second door (another connection, the bytes on the disk): an acknowledged commit
   * counts when it is visible here. A store without a second door asks itself.
   */
  observe(): Promise<StoreContents>;
  /** Removes what the case left. The store may be open, closed or broken. */
  dispose(): Promise<void>;
}

/** A store under test that can be closed and opened again. */
export interface DurableStoreSubject extends StoreSubject {
  /** Closes the store, and opens what it left. */
  reopen(): Promise<Store>;
}

/** How a process opens a store, to be killed while it writes. */
export interface StoreProcess {
  /** A module with an `openStore(location: string): Promise<Store>`, which Node can import as it is. */
  readonly module: URL;
  /** A location at which no store exists yet. */
  locate(): Promise<string>;
  /** Removes what is at a location. */
  remove(location: string): Promise<void>;
  /** The system calls by which it writes, if a crash at each of them is to be tested. */
  readonly systemCalls?: readonly string[] | undefined;
}

/** How the suite opens the store that it tests. */
export type StoreSuiteOptions =
  | { readonly isDurable: false; open(): Promise<StoreSubject> }
  | {
      readonly isDurable: true;
      open(): Promise<DurableStoreSubject>;
      readonly process: StoreProcess;
    };

/** One case of the suite of stores. */
export interface StoreCase {
  readonly name: string;
  /** Why it can't run on this machine. */
  readonly skip?: string | undefined;
  /** A case that starts processes takes longer than a test runner expects. */
  readonly timeoutMs: number;
  run(): Promise<void>;
}
