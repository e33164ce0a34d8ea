/// <reference types="node" />
import { joinFrames } from "@waybill/protocol/wire";

/** As many as one commit settles. The agent's answers to one message share a signature. */
const FRAMES_AT_ONCE = 32;
const CHARACTERS_AT_ONCE = 64 * 1024;

/** Combines the frames of a turn into one message, for throughput. */
export class Outbox {
  readonly #send: (message: string) => void;
  #waiting: string[] = [];
  #characters = 0;
  #scheduled: NodeJS.Immediate | undefined;

  constructor(send: (message: string) => void) {
    this.#send = send;
  }

  push(frame: string): void {
    this.#characters += frame.length;
    const count = this.#waiting.push(frame);
    if (count >= FRAMES_AT_ONCE || this.#characters >= CHARACTERS_AT_ONCE) return this.flush();
    this.#scheduled ??= setImmediate(() => this.flush());
  }

  flush(): void {
    if (this.#scheduled !== undefined) clearImmediate(this.#scheduled);
    this.#scheduled = undefined;
    if (this.#waiting.length === 0) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#characters = 0;
    this.#send(joinFrames(waiting));
  }
}
