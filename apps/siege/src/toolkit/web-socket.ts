/// <reference types="node" />
import { randomBytes } from "node:crypto";
import type { Socket } from "node:net";
import { cut } from "./attacker.ts";
import type { Attacker } from "./attacker.ts";

/** The opcodes of RFC 6455. */
export const OPCODES = {
  continuation: 0,
  text: 1,
  binary: 2,
  close: 8,
  ping: 9,
  pong: 10,
} as const;

export interface FrameOptions {
  readonly isFinal?: boolean;
  readonly isMasked?: boolean;
  /** The three reserved bits, as a number. */
  readonly reserved?: number;
  /** The announced length, if it differs from the payload's. */
  readonly length?: number;
}

export interface WebSocketOptions {
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly address?: string;
}

/** A handwritten WebSocket on which any frame may be sent. */
export class RawWebSocket {
  readonly socket: Socket;
  /** Settles when the connection is gone. */
  readonly closed: Promise<void>;
  /** Called for each text message. */
  onText: (text: string) => void = () => undefined;
  readonly #isClient: boolean;
  readonly #waiting: string[] = [];
  #buffer: Buffer = Buffer.alloc(0);
  #parts: Buffer[] = [];

  /** Runs on an upgraded connection; a client masks what it sends, and a server does not. */
  constructor(socket: Socket, isClient = true) {
    this.socket = socket;
    this.#isClient = isClient;
    this.closed = new Promise((resolve) => socket.once("close", () => resolve()));
    socket.on("data", (data: Buffer) => this.#take(data));
    this.onText = (text) => void this.#waiting.push(text);
  }

  static async open(attacker: Attacker, options: WebSocketOptions = {}): Promise<RawWebSocket> {
    const { path = "/v1/socket", headers = {}, address } = options;
    const { host, port } = attacker.place;
    const socket = await attacker.open(address);
    const lines = [
      `GET ${path} HTTP/1.1`,
      `Host: ${host}:${port}`,
      "Connection: Upgrade",
      "Upgrade: websocket",
      "Sec-WebSocket-Version: 13",
      `Sec-WebSocket-Key: ${randomBytes(16).toString("base64")}`,
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ];
    socket.write(`${lines.join("\r\n")}\r\n\r\n`);
    const { head, rest } = await headOf(socket);
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? 0);
    if (status !== 101) {
      socket.destroy();
      throw cut(`The socket was refused with ${status}.`);
    }
    const opened = new RawWebSocket(socket);
    if (rest.length > 0) opened.#take(rest);
    return opened;
  }

  send(text: string): boolean {
    return this.frame(OPCODES.text, Buffer.from(text));
  }

  /** False if the caller should wait for `drain`. */
  frame(opcode: number, payload: Buffer, options: FrameOptions = {}): boolean {
    return this.socket.write(frameOf(opcode, payload, { isMasked: this.#isClient, ...options }));
  }

  /** The received text messages; waits for the next one if there is none. */
  async next(): Promise<string> {
    const known = this.#waiting.shift();
    if (known !== undefined) return known;
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const before = this.onText;
    this.onText = (text) => {
      this.onText = before;
      resolve(text);
    };
    void this.closed.then(() => reject(cut("The socket was closed.")));
    return promise;
  }

  #take(data: Buffer): void {
    this.#buffer = this.#buffer.length === 0 ? data : Buffer.concat([this.#buffer, data]);
    for (;;) {
      const frame = readFrame(this.#buffer);
      if (frame === undefined) return;
      this.#buffer = this.#buffer.subarray(frame.end);
      if (frame.opcode >= OPCODES.close) {
        if (frame.opcode === OPCODES.ping) this.frame(OPCODES.pong, frame.payload);
        continue;
      }
      this.#parts.push(frame.payload);
      if (!frame.isFinal) continue;
      const text = Buffer.concat(this.#parts).toString();
      this.#parts = [];
      this.onText(text);
    }
  }
}

export function frameOf(opcode: number, payload: Buffer, options: FrameOptions = {}): Buffer {
  const { isFinal = true, isMasked = true, reserved = 0, length = payload.length } = options;
  const head = [(isFinal ? 0x80 : 0) | (reserved << 4) | opcode];
  const mask = isMasked ? 0x80 : 0;
  const extended = Buffer.alloc(8);
  extended.writeBigUInt64BE(BigInt(length));
  if (length < 126) head.push(mask | length);
  else if (length < 65_536) head.push(mask | 126, ...extended.subarray(6));
  else head.push(mask | 127, ...extended);
  if (!isMasked) return Buffer.concat([Buffer.from(head), payload]);
  const key = randomBytes(4);
  return Buffer.concat([Buffer.from(head), key, masked(payload, key)]);
}

function masked(payload: Buffer, key: Buffer): Buffer {
  const bytes = Buffer.allocUnsafe(payload.length);
  for (let index = 0; index < payload.length; index++) {
    bytes[index] = payload[index]! ^ key[index & 3]!;
  }
  return bytes;
}

interface Frame {
  readonly opcode: number;
  readonly isFinal: boolean;
  readonly payload: Buffer;
  readonly end: number;
}

/** The first complete frame in the buffer. */
function readFrame(buffer: Buffer): Frame | undefined {
  if (buffer.length < 2) return undefined;
  const short = buffer[1]! & 0x7f;
  const isMasked = (buffer[1]! & 0x80) !== 0;
  const start = (short === 127 ? 10 : short === 126 ? 4 : 2) + (isMasked ? 4 : 0);
  if (buffer.length < start) return undefined;
  const length =
    short === 127
      ? Number(buffer.readBigUInt64BE(2))
      : short === 126
        ? buffer.readUInt16BE(2)
        : short;
  const end = start + length;
  if (buffer.length < end) return undefined;
  const isFinal = (buffer[0]! & 0x80) !== 0;
  const payload = buffer.subarray(start, end);
  const key = isMasked ? buffer.subarray(start - 4, start) : undefined;
  return {
    opcode: buffer[0]! & 0x0f,
    isFinal,
    payload: key === undefined ? payload : masked(payload, key),
    end,
  };
}

const HEAD_END = Buffer.from("\r\n\r\n");

/** The head of a response, and the bytes after it. */
async function headOf(socket: Socket): Promise<{ head: string; rest: Buffer }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ head: string; rest: Buffer }>();
  let buffer: Buffer = Buffer.alloc(0);
  const closed = (): void => reject(cut("The connection was closed."));
  const take = (data: Buffer): void => {
    buffer = Buffer.concat([buffer, data]);
    const end = buffer.indexOf(HEAD_END);
    if (end < 0) return;
    const at = end + HEAD_END.length;
    resolve({ head: buffer.subarray(0, end).toString("latin1"), rest: buffer.subarray(at) });
  };
  socket.on("data", take);
  socket.once("close", closed);
  try {
    return await promise;
  } finally {
    socket.off("data", take);
    socket.off("close", closed);
  }
}
