/// <reference types="node" />
import { once } from "node:events";
import { Agent, request } from "node:http";
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { connect } from "node:net";
import type { Socket } from "node:net";
import { setImmediate as immediate, setTimeout as sleep } from "node:timers/promises";
import type { Origin } from "../origin.ts";
import { Actor } from "./actor.ts";
import type { Place } from "./place.ts";

export interface AttackRequest {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** A string is sent unchanged, anything else as JSON. */
  readonly body?: unknown;
  /** The signer of the request. */
  readonly as?: Actor;
  /** Counted with its status under this name; by default under the status alone. */
  readonly label?: string;
  /** Which of the attacker's addresses to use. */
  readonly address?: string;
}

export interface Answer {
  /** The protocol's status, if the answer is a problem. */
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** The content of a refusal. */
export interface Problem {
  readonly waybill_status: number;
  readonly detail: string;
}

export interface AttackerOptions {
  readonly place: Place;
  readonly origin: Origin;
  readonly seconds: number;
  /** The port at which the attack plays a peer of the hub. */
  readonly peerPort: number;
}

const ADDRESSES: Readonly<Record<Origin, readonly string[]>> = {
  elsewhere: ["127.0.0.3"],
  beside: ["127.0.0.1"],
  spread: Array.from({ length: 200 }, (_, index) => `127.0.1.${index + 1}`),
};
const ANSWER_BYTES = 64 * 1024 * 1024;
const TOO_OFTEN = 301;
const RETRY_MS = 50;
/** Errors that mean that a connection was cut, by the other side or at the end of the time. */
const CUT = new Set([
  "ECONNRESET",
  "ECONNREFUSED",
  "EPIPE",
  "ETIMEDOUT",
  "ERR_STREAM_DESTROYED",
  "ERR_STREAM_WRITE_AFTER_END",
  "ERR_STREAM_PREMATURE_CLOSE",
  "HPE_INVALID_CONSTANT",
  "EADDRNOTAVAIL",
  "EMFILE",
  "ABORT_ERR",
  "CUT",
]);

/** An independent client, written from the specification, with a time limit and a count of its outcomes. */
export class Attacker {
  readonly place: Place;
  readonly origin: Origin;
  readonly peerPort: number;
  /** Aborted when the time of the attack is over. */
  readonly signal: AbortSignal;
  readonly tally: Record<string, number> = {};
  /** The hub's reason for the first refusal of each status. */
  readonly reasons: Record<string, string> = {};
  readonly #addresses: readonly string[];
  readonly #until: number;
  readonly #sockets = new Set<Socket>();
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1_024 });
  #next = 0;
  #actors = 0;

  constructor({ place, origin, seconds, peerPort }: AttackerOptions) {
    this.place = place;
    this.origin = origin;
    this.peerPort = peerPort;
    this.#addresses = ADDRESSES[origin];
    const ms = Math.ceil(seconds * 1000);
    this.#until = Date.now() + ms;
    this.signal = AbortSignal.timeout(ms);
    this.signal.addEventListener("abort", () => this.close());
  }

  get isOver(): boolean {
    return this.signal.aborted;
  }

  get leftMs(): number {
    return Math.max(0, this.#until - Date.now());
  }

  count(outcome: string, by = 1): void {
    this.tally[outcome] = (this.tally[outcome] ?? 0) + by;
  }

  /** The next of its addresses. */
  address(): string {
    return this.#addresses[this.#next++ % this.#addresses.length]!;
  }

  /** A new agent with its own key. */
  actor(name = "rogue"): Actor {
    return new Actor(`${name}-${this.origin}-${process.pid}-${++this.#actors}`, this.place);
  }

  /** A new agent, enrolled with these capabilities. */
  async enrolled(capabilities: readonly unknown[] = [], more: object = {}): Promise<Actor> {
    const actor = this.actor();
    const manifest = actor.manifest(capabilities, more);
    // The hub tells frequent clients to retry later.
    for (;;) {
      const { status } = await this.#publish(actor, manifest);
      if (status !== TOO_OFTEN) return actor;
      await this.rest(RETRY_MS);
    }
  }

  publish(actor: Actor, capabilities: readonly unknown[], more: object = {}): Promise<Answer> {
    return this.#publish(actor, actor.manifest(capabilities, more));
  }

  #publish(actor: Actor, manifest: string): Promise<Answer> {
    return this.ask({
      method: "PUT",
      path: `/v1/agents/${actor.id}`,
      body: { manifest },
      label: "publish",
    });
  }

  /** Gives it a new key, which signs from now on. */
  rotate(actor: Actor, capabilities: readonly unknown[]): Promise<Answer> {
    const manifest = actor.rotation(capabilities);
    return this.ask({
      method: "PUT",
      path: `/v1/agents/${actor.id}`,
      body: { manifest },
      label: "rotate",
    });
  }

  submit(envelope: string, label = "submit"): Promise<Answer> {
    return this.ask({ method: "POST", path: "/v1/envelopes", body: { envelope }, label });
  }

  async ask(asked: AttackRequest): Promise<Answer> {
    const { method = "GET", path, as, label } = asked;
    this.signal.throwIfAborted();
    const body = bodyOf(asked.body);
    const headers: Record<string, string | readonly string[]> = {
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...(as === undefined ? {} : { authorization: as.proof(method, path, body) }),
      ...asked.headers,
    };
    const sent = request({
      host: this.place.host,
      port: this.place.port,
      localAddress: asked.address ?? this.address(),
      agent: this.#agent,
      signal: this.signal,
      method,
      path,
      headers: headers as Record<string, string | string[]>,
    });
    sent.end(body);
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    const text = await read(response);
    const status = this.#statusOf(response, text);
    this.count(label === undefined ? `${status}` : `${label} ${status}`);
    return { status, headers: response.headers, text };
  }

  #statusOf(response: IncomingMessage, text: string): number {
    const { statusCode = 0 } = response;
    if (!response.headers["content-type"]?.includes("problem+json")) return statusCode;
    return this.refused(JSON.parse(text) as Problem);
  }

  /** Records the reason of a problem, and returns its status. */
  refused({ waybill_status: status, detail }: Problem): number {
    this.reasons[status] ??= detail;
    return status;
  }

  /** A raw connection. */
  async open(address: string = this.address()): Promise<Socket> {
    this.signal.throwIfAborted();
    const { host, port } = this.place;
    const socket = connect({ host, port, localAddress: address });
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
    socket.on("error", () => undefined);
    await once(socket, "connect", { signal: this.signal });
    return socket;
  }

  /** Repeats this many loops concurrently, until the time is over. */
  async crowd(width: number, act: (lane: number, turn: number) => Promise<unknown>): Promise<void> {
    const lane = async (index: number): Promise<void> => {
      for (let turn = 0; !this.isOver; turn++) {
        if (!(await this.bear(() => act(index, turn)))) await this.rest(5);
        // A loop that never waits would miss the end of the time.
        else await immediate();
      }
    };
    await Promise.all(Array.from({ length: width }, (_, index) => lane(index)));
  }

  /** Runs this many times, several at once; ends early when the time is over. */
  async times(
    count: number,
    width: number,
    act: (index: number) => Promise<unknown>,
  ): Promise<void> {
    let next = 0;
    const lane = async (): Promise<void> => {
      while (!this.isOver && next < count) {
        const index = next++;
        await this.bear(() => act(index));
      }
    };
    await Promise.all(Array.from({ length: width }, lane));
  }

  /** Runs it, and counts cut connections. Any other error is a fault of the attack's program. */
  async bear(act: () => Promise<unknown>): Promise<boolean> {
    try {
      await act();
      return true;
    } catch (error) {
      if (this.isOver) return false;
      if (!CUT.has((error as NodeJS.ErrnoException).code ?? "")) throw error;
      this.count("cut");
      return false;
    }
  }

  async rest(ms: number): Promise<void> {
    await sleep(Math.min(ms, this.leftMs), undefined, { signal: this.signal }).catch(
      () => undefined,
    );
  }

  /** Holds its connections until the time is over. */
  async hold(): Promise<void> {
    await this.rest(this.leftMs);
  }

  close(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
    this.#agent.destroy();
  }
}

/** The error of a cut connection. */
export function cut(message: string): Error {
  return Object.assign(new Error(message), { code: "CUT" });
}

function bodyOf(body: unknown): string | undefined {
  return body === undefined || typeof body === "string" ? body : JSON.stringify(body);
}

async function read(response: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of response as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > ANSWER_BYTES) {
      response.destroy();
      throw cut("The answer is too long.");
    }
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}
