/** Why a socket is not read any further at the moment. */
export type Pause = "calls" | "frames" | "rate" | "turn" | "memory";

interface Pausable {
  pause(): void;
  resume(): void;
}

/** Reads a socket while nothing speaks against it. */
export class Reading {
  readonly #socket: Pausable;
  readonly #pauses = new Set<Pause>();

  constructor(socket: Pausable) {
    this.#socket = socket;
  }

  get isPaused(): boolean {
    return this.#pauses.size > 0;
  }

  pause(why: Pause): void {
    if (this.#pauses.size === 0) this.#socket.pause();
    this.#pauses.add(why);
  }

  resume(why: Pause): void {
    if (this.#pauses.delete(why) && this.#pauses.size === 0) this.#socket.resume();
  }
}
