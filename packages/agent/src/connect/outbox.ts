/// <reference types="node" />
import { joinFrames } from "@waybill/protocol/wire";
import type { AgentFrame } from "@waybill/protocol/wire";

/**
 * How many frames are sent without waiting for the end of the turn, so that the other side can begin.
 * Its answers to one message share a signature, which each reader verifies: smaller messages would
 * cost both sides more than the wait.
 */
const FRAMES_AT_MOST = 64;

/** Combines the frames of one turn into one message: a message costs more than its content. */
export class Outbox {
  readonly #write: (message: string) => void;
  readonly #characters: number;
  #frames: string[] = [];
  #length = 0;
  #immediate: NodeJS.Immediate | undefined;

  /** `characters`: the longest message that the other side accepts. */
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
