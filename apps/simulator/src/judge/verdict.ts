import type { RemainsOnDisk } from "../hub/durable-store.ts";
import type { World } from "../world/world.ts";

export interface Found {
  readonly rule: string;
  readonly handoffId: string;
  readonly message: string;
}

export interface Violation extends Found {
  /** The ledger's account of the handoff. */
  readonly account: readonly string[];
}

export interface Verdict {
  readonly handoffs: number;
  readonly violations: readonly Violation[];
  readonly ledgerHash: string;
}

/** The input of the judge: the world at rest, and what is on the disk after the power is off. */
export interface FinalState {
  readonly world: World;
  readonly disk: RemainsOnDisk;
  /** Agents that have read everything addressed to them. */
  readonly inbox: readonly string[];
}

export type Judge = (remains: FinalState) => Promise<Verdict>;
