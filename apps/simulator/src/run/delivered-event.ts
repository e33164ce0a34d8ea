import type { SeedRun } from "../simulate-seed.ts";

export interface Job {
  readonly seed: number;
  readonly isTraced: boolean;
  readonly crashesAtEachCall: boolean;
}

/** What a thread reports about its work. */
export type DeliveredEvent =
  | { readonly type: "ready" }
  | { readonly type: "run"; readonly run: SeedRun }
  | { readonly type: "failed"; readonly seed: number; readonly message: string };
