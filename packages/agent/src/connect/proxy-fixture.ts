/// <reference types="node" />
import { once } from "node:events";
import { connect as dial, createServer } from "node:net";
import type { AddressInfo, Server, Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

interface Pair {
  readonly near: Socket;
  readonly far: Socket;
  isHole: boolean;
}

/** The faults of a proxy between an agent and a hub. */
export class Proxy {
  /** Connections that were idle for so long are dropped, as gateways do. */
  idleMs: number = Infinity;
  /** The delay of each chunk. */
  delayMs: () => number = () => 0;
  /** Whether a new connection goes nowhere, silently. */
  isHole = false;
  /** Called for each chunk that passes, with a function that cuts its connection. */
  onPiece: (cut: () => void) => void = () => undefined;
  /** How many connections were made. */
  count = 0;
  readonly #server: Server;
  readonly #pairs = new Set<Pair>();

  private constructor(server: Server) {
    this.#server = server;
  }

  static async open(target: () => number): Promise<Proxy> {
    const server = createServer({ allowHalfOpen: true });
    const proxy = new Proxy(server);
    server.on("connection", (near) => proxy.#join(near, target()));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  #join(near: Socket, port: number): void {
    this.count++;
    const far = dial({ port, host: "127.0.0.1", allowHalfOpen: true });
    const pair: Pair = { near, far, isHole: this.isHole };
    this.#pairs.add(pair);
    let idle = setTimeout(() => undefined, 0);
    const passed = (): void => {
      clearTimeout(idle);
      if (this.idleMs < Infinity) idle = setTimeout(() => cut(pair), this.idleMs);
    };
    passed();
    this.#pump(pair, near, far, passed);
    this.#pump(pair, far, near, passed);
    for (const socket of [near, far]) {
      socket.on("error", () => undefined);
      socket.on("close", () => {
        clearTimeout(idle);
        this.#pairs.delete(pair);
        if (!pair.isHole) cut(pair);
      });
    }
  }

  #pump(pair: Pair, from: Socket, to: Socket, passed: () => void): void {
    // One after the other: chunks may be delayed, but not reordered.
    let last = Promise.resolve();
    const then = (what: () => void): void => {
      const ms = this.delayMs();
      last = last.then(async () => {
        if (ms > 0) await sleep(ms);
        if (!pair.isHole && to.writable) what();
      });
    };
    from.on("data", (data: Buffer) => {
      passed();
      then(() => to.write(data));
      this.onPiece(() => cut(pair));
    });
    from.on("end", () => then(() => to.end()));
  }

  /** Cuts all connections at once, in the middle of whatever passes. */
  cut(): void {
    for (const pair of this.#pairs) cut(pair);
  }

  /** Half-closes: ends the stream to one side, and leaves the other direction open. */
  halfClose(side: "near" | "far"): void {
    for (const pair of this.#pairs) pair[side].end();
  }

  /** From now on nothing passes, and neither side notices. */
  swallow(): void {
    for (const pair of this.#pairs) pair.isHole = true;
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

function cut({ near, far }: Pair): void {
  near.destroy();
  far.destroy();
}
