/// <reference types="node" />
import { connect } from "node:net";
import type { Socket } from "node:net";

/** One connection, written to byte by byte. */
export class RawConnection {
  readonly socket: Socket;
  /** Settles with everything that has arrived when the other side closes. */
  readonly closed: Promise<string>;
  received = "";
  #wake: (() => void)[] = [];

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.setEncoding("utf8");
    socket.on("data", (part: string) => {
      this.received += part;
      for (const wake of this.#wake.splice(0)) wake();
    });
    socket.on("error", () => undefined);
    this.closed = new Promise((resolve) =>
      socket.once("close", () => {
        for (const wake of this.#wake.splice(0)) wake();
        resolve(this.received);
      }),
    );
  }

  static async open(url: string): Promise<RawConnection> {
    const { protocol, pathname, hostname, port } = new URL(url);
    const socket = protocol === "unix:" ? connect(pathname) : connect(Number(port), hostname);
    const connection = new RawConnection(socket);
    await new Promise<void>((resolve, reject) => {
      socket.once("connect", resolve);
      socket.once("error", reject);
    });
    return connection;
  }

  get isOpen(): boolean {
    return !this.socket.closed;
  }

  write(text: string): void {
    this.socket.write(text);
  }

  /** Waits for this text, and throws if the other side closes before. */
  async until(part: string): Promise<void> {
    while (!this.received.includes(part)) {
      if (this.socket.closed) throw new Error(`it was closed, and ${part} has not come`);
      await new Promise<void>((resolve) => this.#wake.push(resolve));
    }
  }

  close(): void {
    this.socket.destroy();
  }
}

/** A request as raw text. */
export function requestText(path: string, ...headers: string[]): string {
  const [method, target] = path.includes(" ") ? path.split(" ") : ["GET", path];
  const lines = [`${method} ${target} HTTP/1.1`, "Host: 127.0.0.1", ...headers];
  return `${lines.join("\r\n")}\r\n\r\n`;
}
