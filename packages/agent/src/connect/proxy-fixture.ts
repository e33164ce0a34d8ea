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

/** What stands between an agent and a hub on a bad day. */
export class Proxy {
  /** Connections on which nothing has passed for so long are cut, as gateways do. */
  idleMs: number = Infinity;
  /** How long each piece takes on its way. */
  delayMs: () => number = () => 0;
  /** Whether a new connection leads nowhere, without a word. */
  isHole = false;
  /** Told of each piece that passes, with what cuts the connection it passes on. */
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
    // One after the other: pieces may be late, but not in another order.
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

  /** Ends all connections at once, in the middle of whatever passes. */
  cut(): void {
    for (const pair of this.#pairs) cut(pair);
  }

  /** Says to one side that the other has nothing more to say, and leaves the rest as it is. */
  halfClose(side: "near" | "far"): void {
    for (const pair of this.#pairs) pair[side].end();
  }

  /** From now on nothing passes, and nobody is told. */
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
