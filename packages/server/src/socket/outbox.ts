/// <reference types="node" />
import { joinFrames } from "@waybill/protocol/wire";

/** As many as one commit settles. The agent's answers to one message share a signature. */
const FRAMES_AT_ONCE = 32;
const CHARACTERS_AT_ONCE = 64 * 1024;

/** A receipt that answers several calls of one agent. */
interface SharedAnswer {
  readonly receipt: string;
  readonly numbers: number[];
}

/** Combines the frames of a turn into one message, for throughput. */
export class Outbox {
  readonly #send: (message: string) => void;
  #waiting: (string | SharedAnswer)[] = [];
  #shared: SharedAnswer | undefined;
  #characters = 0;
  #scheduled: NodeJS.Immediate | undefined;

  constructor(send: (message: string) => void) {
    this.#send = send;
  }

  push(frame: string): void {
    this.#put(frame, frame.length);
  }

  /** Answers a call with a receipt. One frame may answer several calls in a row that have the same. */
  confirm(number: number, receipt: string, isShared: boolean): void {
    if (!isShared) return this.push(receiptFrame(receipt, [number]));
    if (this.#shared?.receipt === receipt) {
      this.#shared.numbers.push(number);
      return;
    }
    this.#shared = { receipt, numbers: [number] };
    this.#put(this.#shared, receipt.length);
  }

  #put(frame: string | SharedAnswer, characters: number): void {
    this.#characters += characters;
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
    this.#shared = undefined;
    this.#characters = 0;
    this.#send(joinFrames(waiting.map(frameOf)));
  }
}

function frameOf(waiting: string | SharedAnswer): string {
  return typeof waiting === "string" ? waiting : receiptFrame(waiting.receipt, waiting.numbers);
}

/** A reply with a receipt, which contains only characters that JSON does not escape. */
function receiptFrame(receipt: string, [number, ...also]: readonly number[]): string {
  const others = also.length === 0 ? "" : `"also":[${also.join(",")}],`;
  return `{"type":"reply","number":${number},${others}"value":{"receipt":"${receipt}"}}`;
}
