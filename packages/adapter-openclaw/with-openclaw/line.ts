/// <reference types="node" />
import { once } from "node:events";
import { connect, createServer } from "node:net";
import type { AddressInfo, Server, Socket } from "node:net";

/** A line to a port that can be cut and joined again. */
export class Line {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #isCut = false;

  private constructor(server: Server) {
    this.#server = server;
  }

  /** `from` is an address on another machine, from which a proxy in front of the gateway is called. */
  static async to(port: number, from?: string): Promise<Line> {
    const server = createServer();
    const line = new Line(server);
    server.on("connection", (near) => {
      if (line.#isCut) return near.destroy();
      const far = connect(port, "127.0.0.1");
      for (const each of [near, far]) {
        line.#sockets.add(each);
        each.on("error", () => undefined);
        each.on("close", () => {
          line.#sockets.delete(each);
          near.destroy();
          far.destroy();
        });
      }
      far.pipe(near);
      if (from === undefined) near.pipe(far);
      else
        near.once("data", (head: Buffer) => {
          far.write(head.toString("latin1").replace("\r\n", `\r\nX-Forwarded-For: ${from}\r\n`));
          near.pipe(far);
        });
      return undefined;
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return line;
  }

  get url(): string {
    return `ws://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  cut(): void {
    this.#isCut = true;
    for (const each of this.#sockets) each.destroy();
  }

  join(): void {
    this.#isCut = false;
  }

  async close(): Promise<void> {
    this.cut();
    this.#server.close();
    await once(this.#server, "close");
  }
}
