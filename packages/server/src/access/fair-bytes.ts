import { FairQueue } from "@waybill/hub/serving";

/** From this size on, messages and bodies need room. */
export const LARGE_MESSAGE_BYTES: number = 32 * 1024;

/** No agent has this name: strangers share one place. */
export const STRANGERS = "(strangers)";

interface WaitingMessage {
  readonly bytes: number;
  readonly enter: () => void;
}

/**
 * Bounds the bytes of what is being worked on; the client that has had the fewest is admitted first.
 * The last one admitted may exceed the limit, so that anything fits, however large.
 */
export class FairBytes {
  readonly #most: number;
  readonly #waited: () => void;
  readonly #queue = new FairQueue<WaitingMessage>();
  #inWork = 0;

  /** `waited` is called for everything that has to wait. */
  constructor(most: number, waited: () => void) {
    this.#most = most;
    this.#waited = waited;
  }

  /** Calls `enter` as soon as there is room: at once, or later. */
  enter(who: string, bytes: number, enter: () => void): void {
    this.#queue.push(who, { bytes, enter });
    this.#admit();
    if (!this.#queue.isEmpty) this.#waited();
  }

  /** Work on that many of the bytes that have entered is done. */
  leave(bytes: number): void {
    this.#inWork -= bytes;
    this.#admit();
  }

  #admit(): void {
    while (this.#inWork < this.#most) {
      const next = this.#queue.next();
      if (next === undefined) return;
      const { bytes, enter } = next.job;
      this.#queue.charge(next.name, bytes);
      this.#inWork += bytes;
      enter();
    }
  }
}
