import type { Origin } from "./origin.ts";
import type { Attacker } from "./toolkit/attacker.ts";

/** What a hub needs, besides its folder, for this attack. */
export interface HubSetup {
  readonly arguments?: readonly string[];
  /** A file beside this one that the hub's process loads before its program. */
  readonly preload?: string;
  readonly isTls?: boolean;
  /** Its data lies on a disk of this size, which grows to the second size after the attack. */
  readonly diskBytes?: readonly [number, number];
  /** The attack plays a peer; the hub is given its port. */
  readonly hasPeer?: boolean;
}

/** One class of attack: one program. */
export interface AttackClass {
  readonly name: string;
  /** What it does, for the README's table. */
  readonly does: string;
  /** Its origins, one run after the other. By default elsewhere. */
  readonly from?: readonly Origin[];
  /** Outcomes that must occur; otherwise the attack did not reach its target. */
  readonly lands: readonly string[];
  /** Outcomes that must not occur. */
  readonly never?: readonly string[];
  readonly hub?: HubSetup;
  run(attacker: Attacker): Promise<void>;
}
