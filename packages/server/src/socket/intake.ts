/// <reference types="node" />
import type { HubLimits } from "@waybill/hub";
import { WaybillError } from "@waybill/protocol";
import { messageCharacters, readAgentFrames } from "@waybill/protocol/wire";
import type { AgentFrame } from "@waybill/protocol/wire";
import type { WebSocket } from "ws";
import type { Budgets } from "../budgets.ts";
import type { Toll, RateLimits } from "../access/rate-limits.ts";
import type { FairScheduler } from "../access/fair-scheduler.ts";
import type { Connection, Connections } from "../http/connections.ts";

/** The limits between a socket and the hub. */
export interface IntakeOptions {
  readonly budgets: Budgets;
  readonly tolls: RateLimits;
  readonly turns: FairScheduler;
  readonly connections: Connections;
  readonly connection: Connection;
  /** What the connection has paid so far. */
  readonly toll: Toll;
}

export interface IntakeEvents {
  heard(frames: readonly AgentFrame[], bytes: number): void;
  failed(error: WaybillError): void;
}

interface Message {
  readonly data: Buffer;
  readonly isBinary: boolean;
}

/** Frames of one message, and the bytes that they hold. */
interface Rest {
  readonly frames: readonly AgentFrame[];
  readonly bytes: number;
}

/** Why reading from a socket is paused at the moment. */
type Pause = "calls" | "frames" | "rate" | "turn" | "memory" | "failed";

/** A socket that holds no more than this is always read. */
const LIGHT_BYTES = 256 * 1024;

/** The frames of a socket: counted, charged, and processed when it is their sender's turn. */
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
  readonly #messages: Message[] = [];
  /** The rest of the message that is being processed. */
  #rest: Rest | undefined;
  #frames = 0;
  #calls = 0;
  /** Bytes of an incomplete message, of waiting frames, and of calls under way. */
  #unfinished = 0;
  #queued = 0;
  #called = 0;
  #lastPart = 0;
  #isQueued = false;
  #isClosed = false;
  #hasFailed = false;
  #framesAfterFailure = 0;
  #bytesAfterFailure = 0;

  constructor(socket: WebSocket, limits: HubLimits, options: IntakeOptions, events: IntakeEvents) {
    this.#socket = socket;
    this.#limits = limits;
    this.#options = options;
    this.#events = events;
    socket.on("message", (data: Buffer, isBinary) => this.#receive(data, isBinary));
    // Pings are answered here, so that they cost what other frames cost.
    socket.on("ping", (data: Buffer) => {
      this.#leaveOut(data.length);
      this.#try(() => this.#ping(data));
    });
    socket.on("pong", (data: Buffer) => {
      this.#leaveOut(data.length);
      this.#try(() => this.#pay(1, 0));
    });
  }

  get isPaused(): boolean {
    return this.#pauses.size > 0;
  }

  get #budgeted(): Budgets["limits"] {
    return this.#options.budgets.limits;
  }

  get calls(): number {
    return this.#calls;
  }

  /** Bytes have arrived, before it is known which message they belong to. */
  received(bytes: number): void {
    if (this.#hasFailed) return this.#receiveAfterFailure(bytes);
    this.#unfinished += bytes;
    this.#lastPart = bytes;
    this.account();
  }

  /** A frame of this length belongs to no incomplete message. */
  #leaveOut(length: number): void {
    this.#unfinished = Math.max(0, this.#unfinished - length - headBytes(length));
  }

  #receive(data: Buffer, isBinary: boolean): void {
    this.#leaveOut(data.length);
    // A fragmented message has several headers. The remaining bytes have arrived after it, in the same
    // chunk.
    this.#unfinished = Math.min(this.#unfinished, this.#lastPart);
    if (this.#hasFailed) return this.#frameAfterFailure();
    if (this.#isClosed) return;
    this.#queued += data.length;
    this.#messages.push({ data, isBinary });
    this.#queue();
    if (this.#queued > this.#budgeted.queuedBytes) this.pause("turn");
    this.account();
  }

  /** Processes the next piece when it is the sender's turn. */
  #queue(): void {
    if (this.#isQueued || (this.#rest === undefined && this.#messages.length === 0)) return;
    // Frames also wait until some of its calls are answered.
    if (this.#pauses.has("calls")) return;
    this.#isQueued = true;
    const { turns, connection } = this.#options;
    const work = () => {
      this.#isQueued = false;
      if (!this.#isClosed) this.#try(() => this.#takePiece());
      if (this.#isClosed || this.#hasFailed) return this.#drop();
      if (this.#queued <= this.#budgeted.queuedBytes) this.resume("turn");
      this.account();
      this.#queue();
    };
    if (this.agent === undefined) turns.runForStranger(connection.address ?? "", work);
    else turns.run(this.agent, work);
  }

  #takePiece(): void {
    const { frames, bytes } = (this.#rest ??= this.#read(this.#messages.shift()!));
    const { itemsPerTurn: most } = this.#budgeted;
    const isLast = frames.length <= most;
    const share = isLast ? bytes : (bytes / frames.length) * most;
    this.#rest = isLast ? undefined : { frames: frames.slice(most), bytes: bytes - share };
    this.#queued -= share;
    this.#events.heard(frames.slice(0, most), share);
  }

  #drop(): void {
    this.#messages.length = 0;
    this.#rest = undefined;
    this.#queued = 0;
    this.account();
  }

  #read({ data, isBinary }: Message): Rest {
    this.heardAt = Date.now();
    if (isBinary) throw new WaybillError(400, "A message on this socket must be text, not binary.");
    this.#pay(0, data.length);
    const { envelopeBytes, jsonDepth } = this.#limits;
    const frames = readAgentFrames(data.toString("utf8"), {
      characters: messageCharacters(envelopeBytes),
      jsonDepth,
      frames: this.#budgeted.framesPerMessage,
    });
    this.#pay(frames.length, 0);
    return { frames, bytes: data.length };
  }

  #ping(data: Buffer): void {
    this.heardAt = Date.now();
    this.#pay(1, 0);
    // An agent that pings without reading is pinged instead.
    if (this.#socket.bufferedAmount < LIGHT_BYTES) this.#socket.pong(data);
  }

  /** A sender over its budget is not read for a while; a stranger is disconnected. */
  #pay(frames: number, bytes: number): void {
    const { tolls, toll } = this.#options;
    if (this.agent === undefined) {
      this.#frames += frames;
      if (this.#frames > this.#budgeted.framesOfStranger) {
        throw this.#options.budgets.refuse(
          "framesOfStranger",
          "Too many messages were sent before the hello. Send a hello first.",
        );
      }
      return tolls.more(toll, bytes);
    }
    const early = Math.max(
      frames === 0 ? 0 : tolls.takeFrames(this.agent, frames),
      bytes === 0 ? 0 : tolls.takeBytes(this.agent, bytes),
    );
    if (early > 0) this.pauseFor(early);
  }

  /** A signature on it was invalid. */
  payForFailure(): void {
    const { tolls, toll } = this.#options;
    if (this.agent === undefined) return tolls.fail(toll.address);
    const early = tolls.failOf(this.agent);
    if (early > 0) this.pauseFor(early);
  }

  /** A call begins, with its share of the message. */
  begin(bytes: number): void {
    this.#called += bytes;
    if (++this.#calls >= this.#budgeted.callsAtOnce && !this.#pauses.has("calls")) {
      this.#options.budgets.hit("callsAtOnce");
      this.pause("calls");
    }
    this.account();
  }

  end(bytes: number): void {
    this.#called -= bytes;
    if (--this.#calls < this.#budgeted.callsAtOnce) this.resume("calls");
    this.account();
    if (!this.#isClosed && !this.#hasFailed) this.#queue();
  }

  /** Reports what the hub holds for this socket, and pauses reading if that is too much. */
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
   * After a failure the socket is being closed, and whatever still arrives is charged and dropped. A
   * little of it is read, because the peer's own close frame may be among it and ends the connection
   * at once. A flood is not read: it would cost time until the connection is closed.
   */
  #receiveAfterFailure(bytes: number): void {
    this.#bytesAfterFailure += bytes;
    if (this.#bytesAfterFailure > this.#budgeted.bytesAfterFailure) {
      this.#options.budgets.hit("bytesAfterFailure");
      this.pause("failed");
    }
    this.#payAfterFailure(0, bytes);
  }

  #frameAfterFailure(): void {
    if (++this.#framesAfterFailure >= this.#budgeted.framesAfterFailure) {
      this.#options.budgets.hit("framesAfterFailure");
      this.pause("failed");
    }
    this.#payAfterFailure(1, 0);
  }

  #payAfterFailure(frames: number, bytes: number): void {
    const { tolls, toll } = this.#options;
    try {
      if (this.agent === undefined) return tolls.late(toll, frames, bytes);
      if (frames > 0) tolls.takeFrames(this.agent, frames);
      if (bytes > 0) tolls.takeBytes(this.agent, bytes);
    } catch {
      // It was told why it is closed.
      this.pause("failed");
    }
  }

  #try(work: () => void): void {
    if (this.#hasFailed) return this.#frameAfterFailure();
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

/** The size of the header of a client's frame with that many bytes (RFC 6455). */
function headBytes(length: number): number {
  return length < 126 ? 6 : length < 65_536 ? 8 : 14;
}
