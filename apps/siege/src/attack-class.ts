import type { Origin } from "./origin.ts";
import type { Attacker } from "./toolkit/attacker.ts";

/** What a hub needs beside its folder to be attacked in this way. */
export interface HubSetup {
  readonly arguments?: readonly string[];
  /** Loaded into the hub's process before its program, as a file beside this one. */
  readonly preload?: string;
  readonly isTls?: boolean;
  /** Its data lies on a disk of this size, which grows to the second one after the attack. */
  readonly diskBytes?: readonly [number, number];
  /** The port of a peer that the attack plays; the hub is told of it. */
  readonly hasPeer?: boolean;
}

/** One class of attack: one program. */
export interface AttackClass {
  readonly name: string;
  /** What it does, for the table of the README. */
  readonly does: string;
  /** Where it comes from, one after the other. Left out: elsewhere. */
  readonly from?: readonly Origin[];
  /** Outcomes that must have been counted: without them the attack did not get where it aimed at. */
  readonly lands: readonly string[];
  /** Outcomes that must not have been counted. */
  readonly never?: readonly string[];
  readonly hub?: HubSetup;
  run(attacker: Attacker): Promise<void>;
}
