/// <reference types="node" />
import { join } from "node:path";
import type { Digest, StatusCode } from "@waybill/protocol";

/** Where the processes of one run keep what must survive them. */
export interface Folder {
  readonly store: string;
  readonly hubSocket: string;
  readonly targetSocket: string;
  /** Ids of handoffs, before they are sent. */
  readonly kept: string;
  /** Custody receipts, as the hub signed them. */
  readonly receipts: string;
  /** How handoffs ended, before the acknowledgement. */
  readonly applied: string;
  /** The effects on the outside target. */
  readonly effects: string;
  /** Compiled code, so that the next life starts faster. */
  readonly compiled: string;
  key(agent: string): string;
}

export interface KeptLine {
  readonly index: number;
  readonly id: string;
}

export interface ReceiptLine {
  readonly at: number;
  readonly id: string;
  readonly text: string;
}

export interface AppliedLine {
  readonly at: number;
  readonly index: number;
  readonly id: string;
  readonly status: StatusCode;
  /** The digest of the result, if there is one, and the handoff that its output refers to. */
  readonly digest?: Digest | undefined;
  readonly outputIndex?: number | undefined;
}

export interface EffectLine {
  readonly at: number;
  readonly handoffId: string;
  readonly key: string;
}

export function folderAt(path: string): Folder {
  return {
    store: join(path, "hub.sqlite"),
    hubSocket: join(path, "hub.socket"),
    targetSocket: join(path, "target.socket"),
    kept: join(path, "kept.ndjson"),
    receipts: join(path, "receipts.ndjson"),
    applied: join(path, "applied.ndjson"),
    effects: join(path, "effects.ndjson"),
    compiled: join(path, "compiled"),
    key: (agent) => join(path, `${agent}.key`),
  };
}
