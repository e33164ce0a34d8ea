/// <reference types="node" />
import { connect } from "node:net";
import type { Socket } from "node:net";
import { WaybillError } from "@waybill/protocol";
import { onValue, writeValue } from "./lines.ts";
import { unpackError } from "./message.ts";
import type { Message } from "./message.ts";

interface PendingCall {
  resolve(value: unknown): void;
  reject(error: WaybillError): void;
}

const WAIT = { firstMs: 10, mostMs: 200 } as const;

/**
 * The near end of a line. It reconnects whenever the far end was killed. Calls in flight then fail
 * with 503, because their outcome is unknown; later ones wait.
 */
export class Caller {
  readonly #path: string;
  readonly #heard: (news: unknown) => void;
  readonly #cut: (reason: WaybillError) => void;
  readonly #waiting = new Map<number, PendingCall>();
  #line: Socket | undefined;
  #unsent: Message[] = [];
  #calls = 0;
  #isClosed = false;

  constructor(
    path: string,
    heard: (news: unknown) => void = () => undefined,
    cut: (reason: WaybillError) => void = () => undefined,
  ) {
    this.#path = path;
    this.#heard = heard;
    this.#cut = cut;
    this.#connect(WAIT.firstMs);
  }

  #connect(waitMs: number): void {
    if (this.#isClosed) return;
    const socket = connect(this.#path);
    let nextWaitMs: number = Math.min(waitMs * 2, WAIT.mostMs);
    onValue(socket, (value) => this.#take(value as Message));
    socket.once("connect", () => {
      nextWaitMs = WAIT.firstMs;
      this.#line = socket;
      for (const message of this.#unsent) writeValue(socket, message);
      this.#unsent = [];
    });
    // Every error is followed by a close.
    socket.on("error", () => undefined);
    socket.once("close", () => {
      if (this.#line === socket) this.#lose();
      setTimeout(() => this.#connect(nextWaitMs), waitMs);
    });
  }

  #lose(): void {
    this.#line = undefined;
    const reason = new WaybillError(503, "The line was cut; send again once it is back.");
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    this.#cut(reason);
    for (const { reject } of waiting) reject(reason);
  }

  #take(message: Message): void {
    if ("news" in message) return this.#heard(message.news);
    const waiting = this.#waiting.get(message.number);
    this.#waiting.delete(message.number);
    if ("error" in message) waiting?.reject(unpackError(message.error));
    else waiting?.resolve("value" in message ? message.value : undefined);
  }

  call(call: string, ...args: readonly unknown[]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const number = ++this.#calls;
      this.#waiting.set(number, { resolve, reject });
      const message: Message = { call, number, args };
      if (this.#line === undefined) this.#unsent.push(message);
      else writeValue(this.#line, message);
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#line?.destroy();
  }

  /** Delivered at most once. */
  tell(news: unknown): void {
    if (this.#line !== undefined) writeValue(this.#line, { news });
  }
}
