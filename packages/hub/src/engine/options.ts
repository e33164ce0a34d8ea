import { LIMITS } from "@waybill/protocol";
import type { Limits, PrivateKey, TrustPolicy } from "@waybill/protocol";
import type { LifecycleTerms } from "@waybill/protocol/hub";
import type { Clock, Newcomers } from "@waybill/protocol/wire";
import type { Store } from "../store.ts";

/** The limits of a hub: those of the protocol, and what it keeps for its agents. */
export interface HubLimits extends Limits {
  /** Handoffs that one delegator may have open here at the same time. */
  openHandoffs: number;
  /** Deltas of one attempt that are passed on in a second. The rest is dropped. */
  deltasPerSecond: number;
  /** Characters of deliveries that are held until agents say that they have arrived, of all agents together. */
  unseenCharacters: number;
  /** Characters of the answers to all questions of one handoff: they go along with each of its offers. */
  answerCharacters: number;
  /** Bytes of one blob. */
  blobBytes: number;
  /** Blobs that one agent uploads at the same time, and has not completed. */
  blobUploads: number;
  /** Blobs that all agents together upload, and have not completed. */
  blobUploadsPerHub: number;
  /** Bytes of all blobs that one agent has brought in, and of those that it uploads, at their full size. */
  blobBytesPerAgent: number;
  /** Bytes of all blobs of the hub, and what has arrived of uploads. */
  blobBytesPerHub: number;
  /** For how long an upload is kept that is not complete, and of which nothing arrives. */
  blobIdleMs: number;
  /** For how long a blob is kept that no envelope has named. */
  blobUnclaimedMs: number;
  /** For how long a blob is kept after the end of the last handoff that names it. */
  blobKeptMs: number;
}

const GIB = 1024 ** 3;
const MINUTE_MS = 60 * 1000;
const DAY_MS = 24 * 60 * 60 * 1000;

/** The limits of a hub where no option says otherwise. */
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
  /** Where it keeps everything. */
  readonly store: Store;
  /**
   * What the hub signs receipts and notices with. The same key at every start: `loadKey` keeps one in
   * a file. Over a store in memory it may be left out, as all else is gone with the process, too.
   */
  readonly key?: PrivateKey | undefined;
  /** The hub's name as an agent. Left out: the name that the store was first opened with, or one derived from the key. */
  readonly id?: string | undefined;
  readonly clock?: Clock | undefined;
  readonly newId?: (() => string) | undefined;
  /** Numbers from 0 up to, but not including, 1, by which work is spread; Math.random where left out. */
  readonly random?: (() => number) | undefined;
  readonly limits?: Partial<HubLimits> | undefined;
  /** Terms where neither contract nor manifest says anything. */
  readonly terms?: Partial<LifecycleTerms> | undefined;
  /**
   * Whose manifests are let in. Left out, everybody's are, and held to their keys from then on:
   * whoever can reach a hub inside a process is in that process.
   */
  readonly trust?: TrustPolicy | undefined;
  /**
   * Whose first manifest is taken: `open`, anybody's; `allow-list`, those that `allowed` or an operator
   * names; `invitation`, theirs, and those that an operator has invited. Left out, anybody's, and where
   * the hub is served beyond this machine, by invitation.
   */
  readonly newcomers?: Newcomers | undefined;
  /** Agent ids, and thumbprints of keys, that are let in without an invitation. */
  readonly allowed?: readonly string[] | undefined;
  /** Agents that may replay the dead letters of others. */
  readonly operators?: readonly string[] | undefined;
  /** An agent with the capability `dead_letter`, which is handed each dead letter. */
  readonly deadLetterAgent?: string | undefined;
  readonly log?: ((event: HubLogEvent) => void) | undefined;
}

/** The same, once it is known what it signs with. */
export type KeyedHubOptions = HubOptions & { readonly key: PrivateKey };

/** What a hub tells its log. */
export interface HubLogEvent {
  readonly event: "attached" | "detached" | "ended" | "failure";
  readonly agent?: string;
  readonly handoffId?: string;
  readonly status?: number;
  readonly error?: unknown;
}
