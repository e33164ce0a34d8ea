import { LIMITS } from "@waybill/protocol";
import type { Limits, PrivateKey, TrustPolicy } from "@waybill/protocol";
import type { LifecycleTerms } from "@waybill/protocol/hub";
import type { Clock, Newcomers } from "@waybill/protocol/wire";
import type { Store } from "../store.ts";

/** The limits of a hub: those of the protocol, and those of what it stores for its agents. */
export interface HubLimits extends Limits {
  /** Handoffs that one delegator may have open here at the same time. */
  openHandoffs: number;
  /** Deltas of one attempt that are passed on in a second. Further ones are dropped. */
  deltasPerSecond: number;
  /** Characters of unacknowledged deliveries, of all agents together. */
  unseenCharacters: number;
  /** Characters of the answers to all questions of one handoff: every further offer of it contains them. */
  answerCharacters: number;
  /** Bytes of one blob. */
  blobBytes: number;
  /** Incomplete blob uploads of one agent at the same time. */
  blobUploads: number;
  /** Incomplete blob uploads of all agents together. */
  blobUploadsPerHub: number;
  /** Bytes of all blobs that one agent has uploaded, and of its uploads in progress at their full size. */
  blobBytesPerAgent: number;
  /** Bytes of all blobs of the hub, and of what has arrived of uploads. */
  blobBytesPerHub: number;
  /** How long an incomplete upload is kept without new data. */
  blobIdleMs: number;
  /** How long a blob is kept that no envelope has referred to. */
  blobUnclaimedMs: number;
  /** How long a blob is kept after the end of the last handoff that refers to it. */
  blobKeptMs: number;
}

const GIB = 1024 ** 3;
const MINUTE_MS = 60 * 1000;
const DAY_MS = 24 * 60 * 60 * 1000;

/** The default limits of a hub. */
export const HUB_LIMITS: Readonly<HubLimits> = {
  ...LIMITS,
  openHandoffs: 10_000,
  deltasPerSecond: 50,
  unseenCharacters: 12 * 1024 * 1024,
  answerCharacters: 4 * 1024 * 1024,
  blobBytes: 5 * GIB,
  blobUploads: 16,
  blobUploadsPerHub: 4_096,
  blobBytesPerAgent: 20 * GIB,
  blobBytesPerHub: 200 * GIB,
  blobIdleMs: 15 * MINUTE_MS,
  blobUnclaimedMs: DAY_MS,
  blobKeptMs: 30 * DAY_MS,
};

/** A hub over a store. */
export interface HubOptions {
  /** Where it stores everything. */
  readonly store: Store;
  /**
   * The key that signs receipts and notices. It must be the same at every start: `loadKey` keeps one
   * in a file. Optional over a store in memory, which also ends with the process.
   */
  readonly key?: PrivateKey | undefined;
  /**
   * The hub's id as an agent. By default the id that the store was first opened with, or one derived
   * from the key.
   */
  readonly id?: string | undefined;
  readonly clock?: Clock | undefined;
  readonly newId?: (() => string) | undefined;
  /** Makes the salts of its envelopes; by default 128 bits of the system's randomness. */
  readonly newSalt?: (() => string) | undefined;
  /** Random numbers in [0, 1) that distribute work; by default Math.random. */
  readonly random?: (() => number) | undefined;
  readonly limits?: Partial<HubLimits> | undefined;
  /** The default terms, if neither contract nor manifest sets them. */
  readonly terms?: Partial<LifecycleTerms> | undefined;
  /**
   * Whose manifests are admitted. By default everybody's, each held to its keys from then on: whoever
   * can reach a hub inside a process is in that process.
   */
  readonly trust?: TrustPolicy | undefined;
  /**
   * Whose first manifest is accepted: `open`, anybody's; `allow-list`, those that `allowed` or an
   * operator names; `invitation`, these and agents that an operator has invited. By default
   * anybody's, and by invitation if the hub is served beyond this machine.
   */
  readonly newcomers?: Newcomers | undefined;
  /** Agent ids, and key thumbprints, that are admitted without an invitation. */
  readonly allowed?: readonly string[] | undefined;
  /**
   * Agents that may replay and discard the dead letters of others, in addition to the members of the
   * group `operators`, which operators can change while the hub runs.
   */
  readonly operators?: readonly string[] | undefined;
  /** An agent with the capability `dead_letter`, to which each dead letter is handed off. */
  readonly deadLetterAgent?: string | undefined;
  readonly log?: ((event: HubLogEvent) => void) | undefined;
}

/** The same, once its key is known. */
export type KeyedHubOptions = HubOptions & { readonly key: PrivateKey };

/** An event in a hub's log. */
export interface HubLogEvent {
  readonly event: "attached" | "detached" | "ended" | "failure";
  readonly agent?: string;
  readonly handoffId?: string;
  readonly status?: number;
  readonly error?: unknown;
}
