/// <reference types="node" />
import { WaybillError } from "@waybill/protocol";
import { messageCharacters, readAgentFrames } from "@waybill/protocol/api";
import type { AgentFrame } from "@waybill/protocol/api";
import type { WebSocket } from "ws";
import type { HubLimits } from "../../engine/options.ts";
import type { Budgets } from "../budgets.ts";
import type { Toll, Tolls } from "../doors/tolls.ts";
import type { Turns } from "../doors/turns.ts";
import type { Connection, Connections } from "../http/connections.ts";

/** What stands between a socket and what is done for it. */
export interface IntakeOptions {
  readonly budgets: Budgets;
  readonly tolls: Tolls;
  readonly turns: Turns;
  readonly connections: Connections;
  readonly connection: Connection;
  /** What the connection has paid so far. */
  readonly toll: Toll;
}

export interface IntakeEvents {
  heard(frames: readonly AgentFrame[], bytes: number): void;
  failed(error: WaybillError): void;
}

/** Why a socket is not read any further at the moment. */
type Pause = "calls" | "frames" | "rate" | "turn" | "memory" | "failed";

const FRAMES_OF_STRANGERS = 64;
/** Messages that wait for their turn: beyond, those after them wait in the network. */
const QUEUED_BYTES = 256 * 1024;
/** Who holds no more than this is read in any case. */
const LIGHT_BYTES = 256 * 1024;

/** What comes in on a socket: counted, paid for, and taken when it is its sender's turn. */
export class Intake {
  readonly #socket: WebSocket;
  readonly #limits: HubLimits;
  readonly #options: IntakeOptions;
  readonly #events: IntakeEvents;
  readonly #pauses = new Set<Pause>();
  readonly #timers = new Set<NodeJS.Timeout>();
  /** The agent that pays from now on. */
  agent: string | undefined;
  heardAt: number = Date.now();
  #frames = 0;
  #calls = 0;
  /** Bytes of a message that is not complete, of those that wait for their turn, of calls under way. */
  #unfinished = 0;
  #queued = 0;
  #called = 0;
  #isClosed = false;
  #hasFailed = false;
  #sinceFailure = 0;

  constructor(socket: WebSocket, limits: HubLimits, options: IntakeOptions, events: IntakeEvents) {
    this.#socket = socket;
    this.#limits = limits;
    this.#options = options;
    this.#events = events;
    socket.on("message", (data: Buffer, isBinary) => this.#receive(data, isBinary));
    // Those of the WebSocket itself are answered here, so that they cost what others cost.
    socket.on("ping", (data: Buffer) => this.#try(() => this.#ping(data)));
    socket.on("pong", () => this.#try(() => this.#pay(1, 0)));
  }

  get isPaused(): boolean {
    return this.#pauses.size > 0;
  }

  get calls(): number {
    return this.#calls;
  }

  /** Bytes have come, of a message that need not be complete yet. */
  received(bytes: number): void {
    this.#unfinished += bytes;
    this.account();
  }

  #receive(data: Buffer, isBinary: boolean): void {
    this.#unfinished = 0;
    if (this.#isClosed) return;
    const { turns, connection } = this.#options;
    const { length } = data;
    this.#queued += length;
    const work = () => {
      this.#queued -= length;
      if (this.#queued <= QUEUED_BYTES) this.resume("turn");
      if (!this.#isClosed) this.#try(() => this.#read(data, isBinary));
      this.account();
    };
    if (this.agent === undefined) turns.runForStranger(connection.address ?? "", work);
    else turns.run(this.agent, work);
    if (this.#queued > QUEUED_BYTES) this.pause("turn");
    this.account();
  }

  #read(data: Buffer, isBinary: boolean): void {
    this.heardAt = Date.now();
    if (isBinary) throw new WaybillError(400, "A message on this socket is text, not binary.");
    this.#pay(0, data.length);
    const { envelopeBytes, jsonDepth } = this.#limits;
    const frames = readAgentFrames(data.toString("utf8"), {
      characters: messageCharacters(envelopeBytes),
      jsonDepth,
      frames: this.#options.budgets.limits.framesPerMessage,
    });
    this.#pay(frames.length, 0);
    this.#events.heard(frames, data.length);
  }

  #ping(data: Buffer): void {
    this.heardAt = Date.now();
    this.#pay(1, 0);
    // Who pings and does not read is asked for a sign of life instead.
    if (this.#socket.bufferedAmount < LIGHT_BYTES) this.#socket.pong(data);
  }

  /** Whoever says more than it may is not read any further for a while; a stranger is sent away. */
  #pay(frames: number, bytes: number): void {
    const { tolls, toll } = this.#options;
    if (this.agent === undefined) {
      this.#frames += frames;
      if (this.#frames > FRAMES_OF_STRANGERS) {
        throw new WaybillError(401, "Too much was said before a hello.");
      }
      return tolls.more(toll, bytes);
    }
    const early = Math.max(
      frames === 0 ? 0 : tolls.takeFrames(this.agent, frames),
      bytes === 0 ? 0 : tolls.takeBytes(this.agent, bytes),
    );
    if (early > 0) this.pauseFor(early);
  }

  /** A signature on it did not hold. */
  payForFailure(): void {
    const { tolls, toll } = this.#options;
    if (this.agent === undefined) return tolls.fail(toll.address);
    const early = tolls.failOf(this.agent);
    if (early > 0) this.pauseFor(early);
  }

  /** A call begins, with its share of the message. */
  begin(bytes: number): void {
    this.#called += bytes;
    if (++this.#calls === this.#options.budgets.limits.callsAtOnce) {
      this.#options.budgets.hit("callsAtOnce");
      this.pause("calls");
    }
    this.account();
  }

  end(bytes: number): void {
    this.#called -= bytes;
    this.#calls--;
    this.resume("calls");
    this.account();
  }

  /** Tells what the hub holds for this socket, and stops where that is too much. */
  account(): void {
    const { connections, connection } = this.#options;
    if (this.#isClosed) return;
    const pending = this.#queued + this.#called;
    const isCrowded = connections.hold(connection, {
      cuttable: this.#unfinished + this.#socket.bufferedAmount,
      pending,
    });
    if (isCrowded && pending > LIGHT_BYTES) this.pause("memory");
    else this.resume("memory");
  }

  pauseFor(ms: number): void {
    this.pause("rate");
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      if (this.#timers.size === 0) this.resume("rate");
    }, ms);
    this.#timers.add(timer);
  }

  pause(why: Pause): void {
    if (this.#pauses.size === 0) this.#socket.pause();
    this.#pauses.add(why);
  }

  resume(why: Pause): void {
    if (this.#pauses.delete(why) && this.#pauses.size === 0) this.#socket.resume();
  }

  /**
   * After a failure the socket is being closed, and whatever still arrives is dropped. A few frames more are
   * read, because the peer's own close frame may be among them and ends the connection at once. A flood is
   * not read: it would cost time until the connection is cut.
   */
  #try(work: () => void): void {
    if (this.#hasFailed) {
      if (++this.#sinceFailure > FRAMES_OF_STRANGERS) this.pause("failed");
      return;
    }
    try {
      work();
    } catch (error) {
      this.#hasFailed = true;
      this.#events.failed(WaybillError.from(error));
    }
  }

  close(): void {
    this.#isClosed = true;
    for (const timer of this.#timers) clearTimeout(timer);
  }
}
