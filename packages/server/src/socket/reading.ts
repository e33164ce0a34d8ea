/// <reference types="node" />
import type { WebSocket } from "ws";
import type { Connection, Connections } from "../http/connections.ts";

export interface ReadingOptions {
  readonly connections: Connections;
  readonly connection: Connection;
}

/** Why reading from a socket is paused at the moment. */
export type Pause = "calls" | "frames" | "rate" | "turn" | "memory" | "failed";

/** A socket that holds no more than this is always read. */
export const LIGHT_BYTES: number = 256 * 1024;

/** Whether a socket is read, and what the hub holds for it in memory. */
export class Reading {
  heardAt: number = Date.now();
  /** Bytes of an incomplete message, of waiting frames, and of calls under way. */
  unfinished = 0;
  queued = 0;
  called = 0;
  readonly #socket: WebSocket;
  readonly #options: ReadingOptions;
  readonly #pauses = new Set<Pause>();
  readonly #timers = new Set<NodeJS.Timeout>();
  #isClosed = false;

  constructor(socket: WebSocket, options: ReadingOptions) {
    this.#socket = socket;
    this.#options = options;
  }

  get isPaused(): boolean {
    return this.#pauses.size > 0;
  }

  isPausedFor(why: Pause): boolean {
    return this.#pauses.has(why);
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Reports what the hub holds for this socket, and pauses reading if that is too much. */
  account(): void {
    const { connections, connection } = this.#options;
    if (this.#isClosed) return;
    const pending = this.queued + this.called;
    const isCrowded = connections.hold(connection, {
      cuttable: this.unfinished + this.#socket.bufferedAmount,
      pending,
    });
    if (isCrowded && pending > LIGHT_BYTES) this.pause("memory");
    else this.resume("memory");
  }

  pauseFor(ms: number): void {
    this.pause("rate");
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      if (this.#timers.size === 0) this.resume("rate");
    }, ms);
    this.#timers.add(timer);
  }

  pause(why: Pause): void {
    if (this.#pauses.size === 0) this.#socket.pause();
    this.#pauses.add(why);
  }

  resume(why: Pause): void {
    if (this.#pauses.delete(why) && this.#pauses.size === 0) this.#socket.resume();
  }

  close(): void {
    this.#isClosed = true;
    for (const timer of this.#timers) clearTimeout(timer);
  }
}
