import { digestOf } from "@waybill/protocol";
import type { Digest } from "@waybill/protocol";
import type { LedgerEntry, LedgerHead } from "../store.ts";
import { chainText } from "./chain-text.ts";

/** The head of an empty ledger. */
export const EMPTY_LEDGER: LedgerHead = { sequence: 0, hash: digestOf("waybill ledger 1\n") };

/** What links an entry to the previous one. */
export function chainHash(previous: Digest, entry: Omit<LedgerEntry, "hash">): Digest {
  return digestOf(chainText(previous, entry));
}
