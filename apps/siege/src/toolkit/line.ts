/// <reference types="node" />
import { newId } from "@waybill/protocol";
import type { Actor } from "./actor.ts";
import { cut } from "./attacker.ts";
import type { Attacker, Problem } from "./attacker.ts";
import { RawWebSocket } from "./web-socket.ts";
import type { WebSocketOptions } from "./web-socket.ts";

/** A frame from the hub, or a delivery in one. */
export type Heard = Readonly<Record<string, unknown>>;

export interface LineOptions extends WebSocketOptions {
  readonly credit?: number;
  readonly instance?: string;
  /** Called for each delivery. */
  readonly delivered?: (delivery: Heard, line: Line) => void;
}

/** An agent attached over a socket. */
export class Line {
  readonly web: RawWebSocket;
  readonly #attacker: Attacker;
  readonly #delivered: NonNullable<LineOptions["delivered"]>;
  readonly #calls = new Map<number, (reply: Heard) => void>();
  #number = 0;

  constructor(attacker: Attacker, web: RawWebSocket, delivered: LineOptions["delivered"]) {
    this.#attacker = attacker;
    this.web = web;
    this.#delivered = delivered ?? (() => undefined);
    web.onText = (text) => {
      for (const frame of framesOf(text)) this.#hear(frame);
    };
  }

  #hear(frame: Heard): void {
    if (frame["type"] === "ping") this.say({ type: "pong" });
    if (frame["type"] === "delivery") this.#delivered(frame["delivery"] as Heard, this);
    if (frame["type"] !== "reply") return;
    const number = frame["number"] as number;
    this.#calls.get(number)?.(frame);
    this.#calls.delete(number);
  }

  /** False if the caller should wait for `drain`. */
  say(frame: object): boolean {
    return this.web.send(JSON.stringify(frame));
  }

  /** The status of the reply; 200 if it is no problem. */
  async call(call: string, params: object): Promise<number> {
    const number = ++this.#number;
    const { promise, resolve, reject } = Promise.withResolvers<Heard>();
    this.#calls.set(number, resolve);
    void this.web.closed.then(() => reject(cut("The socket was closed.")));
    this.say({ type: "call", number, call, params });
    const { problem } = (await promise) as { problem?: Problem };
    return problem === undefined ? 200 : this.#attacker.refused(problem);
  }
}

function framesOf(text: string): readonly Heard[] {
  const value = JSON.parse(text) as Heard | readonly Heard[];
  return Array.isArray(value) ? value : [value as Heard];
}

/** Opens a socket and says hello on it; settles when the hub has attached the actor. */
export async function attach(
  attacker: Attacker,
  actor: Actor,
  options: LineOptions = {},
): Promise<Line> {
  const { credit = 0, instance = newId(), delivered } = options;
  const web = await RawWebSocket.open(attacker, options);
  const [challenge] = framesOf(await web.next());
  const proof = actor.hello(String(challenge!["nonce"]), instance);
  web.send(JSON.stringify({ type: "hello", proof, credit }));
  const first = framesOf(await web.next());
  if (first[0]?.["type"] !== "attached") {
    const { problem } = (first[0] ?? {}) as { problem?: Problem };
    attacker.count(`hello ${problem === undefined ? "" : attacker.refused(problem)}`);
    web.socket.destroy();
    throw cut("The hello was refused.");
  }
  attacker.count("attached");
  const line = new Line(attacker, web, delivered);
  for (const frame of first.slice(1)) line.web.onText(JSON.stringify(frame));
  return line;
}
