import { isDigest, isTime, parseJson, signCompact, verifyCompact } from "@waybill/protocol";
import { parseTime, WaybillError } from "@waybill/protocol";
import type { PrivateKey, PublicKey } from "@waybill/protocol";
import type { LedgerHead } from "../store.ts";
import { timeText } from "./chain-text.ts";

/** What the hub signed about its ledger: this entry was there at that time. */
export interface Checkpoint extends LedgerHead {
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** The hub's signature for the end of its ledger: its holder can later detect a missing end. */
export function signCheckpoint(head: LedgerHead, at: number, key: PrivateKey): string {
  const { sequence, hash } = head;
  const payload = { waybill: 1, kind: "checkpoint", sequence, hash, at: timeText(at) };
  return signCompact(JSON.stringify(payload), key);
}

/** Verifies the signature with the hub's keys, and reads what was signed. */
export function verifyCheckpoint(
  text: string,
  keyOf: (kid: string) => PublicKey | undefined,
): Checkpoint {
  const payload = parseJson(verifyCompact(text, keyOf).payload);
  if (typeof payload !== "object" || payload === null || Array.isArray(payload)) {
    throw notACheckpoint("it is not an object", "");
  }
  const { waybill, kind, sequence, hash, at, ...others } = payload;
  const [other] = Object.keys(others);
  if (kind !== "checkpoint") throw notACheckpoint('its kind is not "checkpoint"', "/kind");
  if (waybill !== 1) throw notACheckpoint("its waybill is not 1", "/waybill");
  if (other !== undefined) throw notACheckpoint(`its member ${other} is unknown`, `/${other}`);
  if (!Number.isSafeInteger(sequence) || (sequence as number) < 0) {
    throw notACheckpoint("its sequence is not a whole number", "/sequence");
  }
  if (!isDigest(hash)) throw notACheckpoint("its hash is not a digest", "/hash");
  if (!isTime(at)) throw notACheckpoint("its at is not a time", "/at");
  return { sequence: sequence as number, hash, at: parseTime(at)! };
}

function notACheckpoint(reason: string, at: string): WaybillError {
  return new WaybillError(400, `This was signed, but it is not a checkpoint: ${reason}.`, { at });
}
