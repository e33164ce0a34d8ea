import type { Disk } from "@waybill/hub";
import type { World } from "../world/world.ts";

export interface Found {
  readonly rule: string;
  readonly handoffId: string;
  readonly message: string;
}

export interface Violation extends Found {
  /** What the ledger says about the handoff. */
  readonly account: readonly string[];
}

export interface Verdict {
  readonly handoffs: number;
  readonly violations: readonly Violation[];
  readonly ledgerHash: string;
}

/** What is judged: the world as it came to rest, and what is on the disk once the power is off. */
export interface FinalState {
  readonly world: World;
  readonly disk: Disk;
  /** Agents that have read everything that was for them. */
  readonly inbox: readonly string[];
}

export type Judge = (remains: FinalState) => Promise<Verdict>;
