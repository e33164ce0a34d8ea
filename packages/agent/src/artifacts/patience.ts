import { WaybillError } from "@waybill/protocol";
import type { Clock } from "@waybill/protocol/wire";

/** How long a hub may send no bytes of a blob. */
const IDLE_MS = 60_000;
/** The slowest rate, averaged over a blob, at which a hub may send it. */
const FLOOR_BYTES_PER_MS = 64;
const AGAIN_MS = 200;

export interface PatienceOptions {
  readonly name: string;
  readonly size: number;
  readonly clock: Clock;
  /** Ends the wait before its own limits do. */
  readonly signal: AbortSignal;
}

/**
 * Bounds the wait for the bytes of a blob: the gap between two pieces, and the total by their number,
 * so that a hub that drips bytes is given up too. Time that the reader spends on the bytes does not
 * count.
 */
export class Patience {
  readonly #options: PatienceOptions;
  #received = 0;
  #waitedMs = 0;
  #idleMs = 0;

  constructor(options: PatienceOptions) {
    this.#options = options;
  }

  /** Until when the hub may be asked again: a little longer than the wait itself. */
  get until(): number {
    return this.#options.clock.now() + IDLE_MS - this.#idleMs + AGAIN_MS;
  }

  /** Records how many bytes have arrived. */
  received(bytes: number): void {
    this.#received += bytes;
    this.#idleMs = 0;
  }

  /** A short delay before the hub is asked again. */
  pause(cause: unknown): Promise<void> {
    const { clock } = this.#options;
    const soon = new Promise<void>((resolve) => clock.setTimer(clock.now() + AGAIN_MS, resolve));
    return this.during(soon, cause);
  }

  async during<Value>(answer: Promise<Value>, cause?: unknown): Promise<Value> {
    const { clock, size, signal } = this.#options;
    const { promise: over, reject } = Promise.withResolvers<never>();
    const asked = clock.now();
    const idleLeft = IDLE_MS - this.#idleMs;
    const left = IDLE_MS + size / FLOOR_BYTES_PER_MS - this.#waitedMs;
    const end = () => reject(this.#ended(signal.reason));
    const disarm = clock.setTimer(asked + Math.min(idleLeft, left), () =>
      reject(idleLeft <= left ? this.#stalled(cause) : this.#slow()),
    );
    if (signal.aborted) end();
    else signal.addEventListener("abort", end, { once: true });
    answer.catch(() => undefined);
    try {
      return await Promise.race([over, answer]);
    } finally {
      disarm();
      signal.removeEventListener("abort", end);
      const waited = clock.now() - asked;
      this.#waitedMs += waited;
      this.#idleMs += waited;
    }
  }

  #stalled(cause: unknown): WaybillError {
    const why = cause === undefined ? "" : ` The last failure: ${WaybillError.from(cause).message}`;
    return new WaybillError(
      504,
      `${this.#soFar()}, and then none for ${IDLE_MS / 1000} s. Read it again later; if the hub is yours, look at its log.${why}`,
      { cause },
    );
  }

  #slow(): WaybillError {
    const seconds = Math.round((IDLE_MS + this.#options.size / FLOOR_BYTES_PER_MS) / 1000);
    return new WaybillError(
      504,
      `${this.#soFar()} in ${seconds} s, which is too slow. Check the network between this agent and the hub, and read it again.`,
    );
  }

  #ended(reason: unknown): unknown {
    const isTimeout = reason instanceof Error && reason.name === "TimeoutError";
    if (!isTimeout) return reason;
    return new WaybillError(
      504,
      `${this.#soFar()} within the given time. Read it again, with more time.`,
      { cause: reason },
    );
  }

  #soFar(): string {
    const { name, size } = this.#options;
    return `The artifact ${name} was not read in time: ${this.#received} of ${size} bytes came from the hub`;
  }
}
