import { setTimeout as wait } from "node:timers/promises";
import { WaybillError } from "@waybill/protocol";
import { isDirect } from "./subscriptions.ts";
import type { WireSubscription } from "./wire.ts";
import type { Worker } from "./worker.ts";

/**
 * A worker learns the message types of an agent only after it has registered it, and never answers
 * messages that arrive before. Its last call in between is the subscription for direct messages.
 */
const SETTLING_MS = 50;

/** An agent without that subscription is used after this time. */
const SETTLED_AT_LATEST_MS = 2000;

interface Entry {
  readonly worker: Worker;
  readonly settle: () => void;
  readonly settled: Promise<void>;
}

/** Which worker has which type of agent. */
export class Directory {
  readonly #entries = new Map<string, Entry>();
  readonly #awaited = new Map<string, PromiseWithResolvers<void>>();

  owner(type: string): Worker | undefined {
    return this.#entries.get(type)?.worker;
  }

  register(type: string, worker: Worker): void {
    const first = Promise.withResolvers<void>();
    const settled = Promise.race([
      first.promise.then(() => pause(SETTLING_MS)),
      pause(SETTLED_AT_LATEST_MS),
    ]);
    this.#entries.set(type, { worker, settle: first.resolve, settled });
    this.#awaited.get(type)?.resolve();
    this.#awaited.delete(type);
  }

  subscribed(subscription: WireSubscription): void {
    if (isDirect(subscription)) this.#entries.get(subscription.prefix!.agent_type)?.settle();
  }

  remove(worker: Worker): void {
    for (const [type, entry] of this.#entries) {
      if (entry.worker === worker) this.#entries.delete(type);
    }
  }

  /** The worker that has a type, once it is ready. One that restarts is waited for. */
  async find(type: string, withinMs: number, signal: AbortSignal): Promise<Worker> {
    const until = AbortSignal.any([signal, AbortSignal.timeout(withinMs)]);
    try {
      for (;;) {
        const entry = this.#entries.get(type);
        if (entry === undefined) await unlessAborted(this.#arrival(type), until);
        else {
          await unlessAborted(entry.settled, signal);
          if (!entry.worker.gone.aborted) return entry.worker;
        }
      }
    } catch (error) {
      signal.throwIfAborted();
      throw new WaybillError(503, `No worker provides agents of type ${type}.`, { cause: error });
    }
  }

  #arrival(type: string): Promise<void> {
    const arrival = this.#awaited.get(type) ?? Promise.withResolvers<void>();
    this.#awaited.set(type, arrival);
    return arrival.promise;
  }
}

function pause(ms: number): Promise<void> {
  return wait(ms, undefined, { ref: false });
}

async function unlessAborted(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const stop = () => aborted.reject(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  try {
    await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
