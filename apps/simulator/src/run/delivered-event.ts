import type { SeedRun } from "../simulate-seed.ts";
import type { Scenario } from "../world/scenario.ts";

/** What a thread is started with. */
export interface WorkerStart {
  readonly mutant: string | undefined;
  readonly storage: Scenario["storage"] | undefined;
}

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
