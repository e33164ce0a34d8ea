import { digestOf, digestOfJws, WaybillError } from "@waybill/protocol";
import type { Digest } from "@waybill/protocol";
import type { LedgerEntry, LedgerHead } from "../store.ts";
import { chainHash, EMPTY_LEDGER } from "./chain.ts";

/** The faults of a ledger, and how the offending entry shows them. */
export const LEDGER_FAULTS = {
  unreadable: "can't be read",
  out_of_order: "is not the one that comes next: others are missing, repeated or in another order",
  content_changed: "has a content that is not the one its digest was made of",
  chain_broken: "does not follow from the entry before it: it, or its place, was changed",
  not_as_signed: "is not the one that the checkpoint was signed for: the ledger was written anew",
  end_missing: "is missing, and the checkpoint was signed when it was there",
} as const;

/** The faults of a ledger. */
export type LedgerFault = keyof typeof LEDGER_FAULTS;

/** Whether a ledger is valid, and where it first is not. */
export type LedgerReport =
  | { readonly holds: true; readonly entries: number; readonly head: LedgerHead }
  | {
      readonly holds: false;
      /** The first invalid place of the ledger. Everything before it is valid. */
      readonly sequence: number;
      readonly fault: LedgerFault;
      readonly message: string;
    };

/** What a ledger is verified against. */
export interface VerifyLedgerOptions {
  /** The result of `verifyCheckpoint`: without it a truncated end can't be detected. */
  readonly checkpoint?: LedgerHead | undefined;
  /** The last entry that is known to be valid; the first entry follows it. */
  readonly from?: LedgerHead | undefined;
}

/** Reads a ledger once, in bounded memory, and stops at the first fault. */
export async function verifyLedger(
  entries: Iterable<LedgerEntry> | AsyncIterable<LedgerEntry>,
  options: VerifyLedgerOptions = {},
): Promise<LedgerReport> {
  const { checkpoint, from = EMPTY_LEDGER } = options;
  if (checkpoint !== undefined && checkpoint.sequence < from.sequence) {
    throw new WaybillError(
      400,
      `The checkpoint is for entry ${checkpoint.sequence}, but the entries to check start after entry ${from.sequence}: start at or before the checkpoint.`,
    );
  }
  let head = from;
  if (contradicts(checkpoint, head)) return broken("not_as_signed", head.sequence);
  try {
    for await (const entry of entries) {
      const fault = faultOf(entry, head);
      if (fault !== undefined) return broken(fault, head.sequence + 1, entry.sequence);
      head = { sequence: entry.sequence, hash: entry.hash };
      if (contradicts(checkpoint, head)) return broken("not_as_signed", head.sequence);
    }
  } catch (error) {
    if (!WaybillError.is(error, 400)) throw error;
    return broken("unreadable", head.sequence + 1, undefined, error.message);
  }
  if (checkpoint !== undefined && checkpoint.sequence > head.sequence) {
    return broken("end_missing", head.sequence + 1);
  }
  return { holds: true, entries: head.sequence - from.sequence, head };
}

function faultOf(entry: LedgerEntry, head: LedgerHead): LedgerFault | undefined {
  if (entry.sequence !== head.sequence + 1) return "out_of_order";
  if (!isSound(entry)) return "unreadable";
  if (digestOfContent(entry) !== entry.digest) return "content_changed";
  if (chainHash(head.hash, entry) !== entry.hash) return "chain_broken";
  return undefined;
}

/** What is signed has the digest by which its receipts name it. Undefined for what is no JWS. */
function digestOfContent({ type, content }: LedgerEntry): Digest | undefined {
  if (type === "decision") return digestOf(content);
  try {
    return digestOfJws(content);
  } catch {
    return undefined;
  }
}

const TIME_MAX = 8.64e15;

/** True if the hashed lines can mean only this entry, and its text is valid Unicode. */
function isSound({ at, handoffId, replayKey, content }: LedgerEntry): boolean {
  const names = [handoffId, replayKey?.from ?? null, replayKey?.id ?? null];
  return (
    Number.isInteger(at) &&
    Math.abs(at) <= TIME_MAX &&
    names.every((name) => name === null || (name !== "" && !name.includes("\n"))) &&
    content.isWellFormed()
  );
}

function contradicts(checkpoint: LedgerHead | undefined, head: LedgerHead): boolean {
  return checkpoint?.sequence === head.sequence && checkpoint.hash !== head.hash;
}

function broken(
  fault: LedgerFault,
  sequence: number,
  found = sequence,
  detail?: string,
): LedgerReport {
  const there = found === sequence ? "" : ` (entry ${found} stands in its place)`;
  const because = detail === undefined ? "" : ` ${detail}`;
  const message = `Entry ${sequence}${there} ${LEDGER_FAULTS[fault]}.${because}`;
  return { holds: false, sequence, fault, message };
}
