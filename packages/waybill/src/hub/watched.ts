/// <reference types="node" />
import { setTimeout as sleep } from "node:timers/promises";
import { parseJson, WaybillError } from "@waybill/protocol";
import type { WireEntry } from "@waybill/protocol/wire";
import type { HubClient } from "./client.ts";
import { readHead } from "./head.ts";

export interface WatchOptions {
  /** The entry to start after; by default the last one. */
  readonly after: number | undefined;
  readonly signal: AbortSignal;
  /** Called once when the hub has gone. */
  readonly gone: (why: string) => void;
  /**
   * Called once when the hub is back, and told whether its ledger ends before what was already
   * returned.
   */
  readonly back: (endsEarlier: boolean) => void;
}

const AGAIN_MS = 500;
const LINE_LIMITS = { envelopeBytes: 64 * 1024 * 1024 };

/** The ledger's new entries, each exactly once, even if the hub goes away and comes back. */
export async function* watched(hub: HubClient, options: WatchOptions): AsyncGenerator<WireEntry> {
  const { signal, gone, back } = options;
  const head = await readHead(hub);
  let after = options.after ?? head.sequence;
  for (let isGone = false; ;) {
    let why = "it is shutting down.";
    try {
      if (isGone) {
        const { sequence } = await readHead(hub);
        isGone = false;
        // The hub may have been restored from a backup that ends earlier.
        back(sequence < after);
        after = Math.min(after, sequence);
      }
      for await (const line of hub.lines(`/v1/watch?after=${after}`)) {
        const entry = parseJson(line, LINE_LIMITS) as unknown as WireEntry;
        after = entry.sequence;
        yield entry;
      }
    } catch (error) {
      if (signal.aborted || !WaybillError.is(error, 503)) throw error;
      why = error.message;
    }
    if (!isGone) gone(why);
    isGone = true;
    await sleep(AGAIN_MS, undefined, { signal });
  }
}
