import { signal } from "@preact/signals";
import { WaybillError } from "@waybill/protocol";
import type { Retry } from "../trust/post.ts";

/** What became of one dead letter. `before`: somebody had done it already. */
export type Outcome = "done" | "before";

/** How far an act on many dead letters is. */
export interface Progress {
  /** What is done to them, as in "12 of 40 discarded". */
  readonly what: string;
  readonly of: number;
  readonly done: number;
  /** Others had done it before. */
  readonly before: number;
  readonly failed: readonly Failure[];
  readonly tookMs: number;
  readonly isOver: boolean;
  readonly isStopped: boolean;
}

/** Dead letters that failed for the same reason. */
export interface Failure {
  readonly why: string;
  readonly ids: readonly string[];
}

/** Acts that are under way at once. */
const AT_ONCE = 8;
const AGAIN_MS = 1_000;
/** Statuses of a hub that wants to be asked later. */
const LATER: ReadonlySet<number> = new Set([301, 503]);
const TRIES = 10;

/** The act under way, or the last one. It continues while other views are shown. */
export const progress = signal<Progress | undefined>(undefined);

let stopping = new AbortController();

/** Finishes what is under way, and begins nothing more. */
export function stopActing(): void {
  stopping.abort();
}

/**
 * Acts on many, a few at a time, until all are done or it is stopped. `act` gets what tries again while
 * the hub wants to be asked later.
 */
export async function actOnAll(
  what: string,
  ids: readonly string[],
  act: (id: string, retry: Retry) => Promise<Outcome>,
): Promise<void> {
  stopping = new AbortController();
  const stop = stopping.signal;
  const began = performance.now();
  const waiting = ids.values();
  const count = { done: 0, before: 0 };
  const failed = new Map<string, string[]>();
  const tell = (isOver: boolean) => {
    progress.value = {
      what,
      of: ids.length,
      ...count,
      failed: Array.from(failed, ([why, each]) => ({ why, ids: each })),
      tookMs: performance.now() - began,
      isOver,
      isStopped: stop.aborted,
    };
  };
  const retry: Retry = (work) => patiently(work, stop);
  const work = async () => {
    for (const id of waiting) {
      if (stop.aborted) return;
      try {
        count[await act(id, retry)]++;
      } catch (error) {
        // The same reason is told once, whatever id it names.
        const why = WaybillError.from(error).message.replaceAll(id, "this handoff");
        failed.set(why, [...(failed.get(why) ?? []), id]);
      }
      tell(false);
    }
  };
  tell(false);
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  tell(true);
}

/** Tries again while the hub says that it has no room, or does not answer. */
async function patiently<Value>(work: () => Promise<Value>, stop: AbortSignal): Promise<Value> {
  for (let tries = 1; ; tries++) {
    try {
      return await work();
    } catch (error) {
      const { status, retryAfterMs = AGAIN_MS } = WaybillError.from(error);
      if (!LATER.has(status) || tries === TRIES || stop.aborted) throw error;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, retryAfterMs);
        stop.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
      });
    }
  }
}
