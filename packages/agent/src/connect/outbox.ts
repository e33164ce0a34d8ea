/// <reference types="node" />
import { joinFrames } from "@waybill/protocol/wire";
import type { AgentFrame } from "@waybill/protocol/wire";

/**
 * So many at once are worth a message of their own: the other side can begin with them. What it says
 * to one message shares a signature, and each reader of that checks one: fewer would cost both more
 * than the waiting for the rest.
 */
const FRAMES_AT_MOST = 64;

/** Puts the frames of one turn into one message: a message costs more than what is in it. */
export class Outbox {
  readonly #write: (message: string) => void;
  readonly #characters: number;
  #frames: string[] = [];
  #length = 0;
  #immediate: NodeJS.Immediate | undefined;

  /** `characters`: the longest message that the other side takes. */
  constructor(write: (message: string) => void, characters: number) {
    this.#write = write;
    this.#characters = characters;
  }

  put(frame: AgentFrame): void {
    const text = JSON.stringify(frame);
    // Brackets and commas count too.
    if (this.#length + text.length + this.#frames.length + 2 > this.#characters) this.flush();
    this.#length += text.length;
    if (this.#frames.push(text) >= FRAMES_AT_MOST) this.flush();
    else this.#immediate ??= setImmediate(() => this.flush());
  }

  flush(): void {
    clearImmediate(this.#immediate);
    this.#immediate = undefined;
    if (this.#frames.length === 0) return;
    const message = joinFrames(this.#frames);
    this.#frames = [];
    this.#length = 0;
    this.#write(message);
  }
}
