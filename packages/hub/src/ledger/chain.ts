import { digestOf } from "@waybill/protocol";
import type { Digest } from "@waybill/protocol";
import type { LedgerEntry, LedgerHead } from "../store.ts";
import { chainText } from "./chain-text.ts";

/** What comes before the first entry: an empty ledger has this head. */
export const EMPTY_LEDGER: LedgerHead = { sequence: 0, hash: digestOf("waybill ledger 1\n") };

/** What holds an entry to the one before it. */
export function chainHash(previous: Digest, entry: Omit<LedgerEntry, "hash">): Digest {
  return digestOf(chainText(previous, entry));
}
