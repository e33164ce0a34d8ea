import { signal } from "@preact/signals";
import { WaybillError } from "@waybill/protocol";
import type { WireEntry } from "@waybill/protocol/wire";
import { announce } from "./announce.ts";
import { HandoffRows } from "./handoff-rows.ts";
import type { TakenEntry } from "./handoff-rows.ts";
import { isEnded, payloadOf } from "./handoffs.ts";
import { get, lines } from "./hub.ts";
import { Rates } from "./rates.ts";

/** Whether the page shows what happens now. */
export type Connection =
  | { readonly type: "connecting" }
  | { readonly type: "live" }
  | { readonly type: "gone"; readonly since: number; readonly why: string };

/** How many entries are read when the page opens. */
const ENTRIES_AT_FIRST = 5_000;
const ROWS_AT_MOST = 100_000;
const AGAIN_MS = 500;
const AGAIN_AT_MOST_MS = 5_000;
/** What happened before is not announced. */
const NEWS_MS = 30_000;
const DRAW_EVERY_MS = 150;
const TELL_EVERY_MS = 2_000;

export const connection = signal<Connection>({ type: "connecting" });
/** Grows with every change of the rows; a view that reads it is drawn again. */
export const version = signal(0);
/** The entry after which the page knows what happened. */
export const knownFrom = signal(0);

export const rows = new HandoffRows(ROWS_AT_MOST);
export const rates = new Rates();

type Listener = (entry: WireEntry) => void;
const listeners = new Set<Listener>();

/** Called with every new entry, until the returned function is called. */
export function onEntry(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The newest entry that this page has read. */
let lastSequence = 0;
let isPlanned = false;

/** Follows the ledger until the signal aborts, also when the hub goes away and comes back. */
export async function follow(stop: AbortSignal): Promise<void> {
  for (let wait = AGAIN_MS; !stop.aborted; wait = Math.min(wait * 2, AGAIN_AT_MOST_MS)) {
    try {
      const head = await headOf(stop);
      // A hub that was restored from a backup ends earlier: everything is read again.
      if (lastSequence === 0 || head < lastSequence) restart(Math.max(0, head - ENTRIES_AT_FIRST));
      const path = `/v1/watch?after=${lastSequence}`;
      for await (const batch of lines(path, stop)) {
        if (connection.value.type !== "live") connection.value = { type: "live" };
        wait = AGAIN_MS;
        for (const line of batch) take(JSON.parse(line) as WireEntry);
      }
      lose("It is shutting down.");
    } catch (error) {
      if (stop.aborted) return;
      const { status, message } = WaybillError.from(error);
      if (status === 401) return;
      lose(status === 503 ? "" : message);
    }
    await new Promise((resolve) => setTimeout(resolve, wait));
  }
}

function lose(why: string): void {
  const { value } = connection;
  const since = value.type === "gone" ? value.since : Date.now();
  connection.value = { type: "gone", since, why };
}

function restart(after: number): void {
  rows.clear();
  lastSequence = after;
  knownFrom.value = after;
  plan();
}

async function headOf(stop: AbortSignal): Promise<number> {
  const { checkpoint } = await get<{ checkpoint: string }>("/v1/ledger/checkpoint", stop);
  return (payloadOf(checkpoint) as unknown as { readonly sequence: number }).sequence;
}

function take(entry: WireEntry): void {
  lastSequence = entry.sequence;
  const taken = rows.take(entry);
  if (taken !== undefined) note(taken, Date.parse(entry.at));
  for (const listener of listeners) listener(entry);
  plan();
}

function note({ row, before }: TakenEntry, at: number): void {
  if (before === undefined) rates.count("begun", at);
  else if (!isEnded({ standing: before }) && isEnded(row)) rates.count("ended", at);
  if (before !== "dead letter" && row.standing === "dead letter") tellDeadLetter(at);
}

let deadLetters = 0;

/** Says how many have come, however many that are at once. What the page reads at first is no news. */
function tellDeadLetter(at: number): void {
  if (at < Date.now() - NEWS_MS || deadLetters++ > 0) return;
  setTimeout(() => {
    const count = deadLetters;
    deadLetters = 0;
    const many = `${count.toLocaleString("en")} handoffs have become dead letters.`;
    announce(count === 1 ? "A handoff has become a dead letter." : many);
  }, TELL_EVERY_MS);
}

let drawnAt = 0;

/** However much happens, the page is drawn a few times a second: nobody reads faster. */
function plan(): void {
  if (isPlanned) return;
  isPlanned = true;
  const wait = Math.max(0, drawnAt + DRAW_EVERY_MS - performance.now());
  setTimeout(() => {
    requestAnimationFrame((at) => {
      isPlanned = false;
      drawnAt = at;
      version.value++;
    });
  }, wait);
}
