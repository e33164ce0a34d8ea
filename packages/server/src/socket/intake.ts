/// <reference types="node" />
import type { HubLimits } from "@waybill/hub";
import { WaybillError } from "@waybill/protocol";
import { messageCharacters, readAgentFrames } from "@waybill/protocol/wire";
import type { AgentFrame } from "@waybill/protocol/wire";
import type { WebSocket } from "ws";
import type { Budgets } from "../budgets.ts";
import { LARGE_MESSAGE_BYTES, STRANGERS } from "../access/fair-bytes.ts";
import type { FairBytes } from "../access/fair-bytes.ts";
import type { FairScheduler } from "../access/fair-scheduler.ts";
import { LIGHT_BYTES } from "./reading.ts";
import type { Reading } from "./reading.ts";
import type { AgentSocket, AgentSocketOptions } from "./agent-socket.ts";

export interface IntakeOptions extends Pick<
  AgentSocketOptions,
  "budgets" | "tolls" | "connection" | "toll"
> {
  readonly limits: HubLimits;
  readonly turns: FairScheduler;
  /** The large messages in work, of all sockets and requests. */
  readonly largeMessages: FairBytes;
  readonly reading: Reading;
  /** Receives the frames. */
  readonly agentSocket: AgentSocket;
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

/** The frames of a socket: counted, charged, and received by its `AgentSocket` when it is their sender's turn. */
export class Intake {
  readonly #socket: WebSocket;
  readonly #options: IntakeOptions;
  readonly #reading: Reading;
  readonly #agentSocket: AgentSocket;
  readonly #messages: Message[] = [];
  /** The rest of the message that is being processed. */
  #rest: Rest | undefined;
  /** Bytes of large messages that have entered and are still in work. */
  #entered = 0;
  /** Whether the next message has entered. */
  #isNextIn = false;
  #frames = 0;
  #lastPart = 0;
  #isQueued = false;
  #hasFailed = false;
  #framesAfterFailure = 0;
  #bytesAfterFailure = 0;

  constructor(socket: WebSocket, options: IntakeOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#reading = options.reading;
    this.#agentSocket = options.agentSocket;
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
    // Messages that wait for room would wait on.
    socket.once("close", () => this.#drop());
  }

  /** The agent that pays; undefined before its hello. */
  get #agent(): string | undefined {
    return this.#agentSocket.agent;
  }

  get #budgeted(): Budgets["limits"] {
    return this.#options.budgets.limits;
  }

  /** Bytes have arrived, before it is known which message they belong to. */
  received(bytes: number): void {
    if (this.#hasFailed) return this.#receiveAfterFailure(bytes);
    this.#reading.unfinished += bytes;
    this.#lastPart = bytes;
    this.#reading.account();
  }

  /** A frame of this length belongs to no incomplete message. */
  #leaveOut(length: number): void {
    const { unfinished } = this.#reading;
    this.#reading.unfinished = Math.max(0, unfinished - length - headBytes(length));
  }

  #receive(data: Buffer, isBinary: boolean): void {
    this.#leaveOut(data.length);
    // A fragmented message has several headers. The remaining bytes have arrived after it, in the same
    // chunk.
    const reading = this.#reading;
    reading.unfinished = Math.min(reading.unfinished, this.#lastPart);
    if (this.#hasFailed) return this.#frameAfterFailure();
    if (reading.isClosed) return;
    reading.queued += data.length;
    this.#messages.push({ data, isBinary });
    this.#queue();
    if (reading.queued > this.#budgeted.queuedBytes) reading.pause("turn");
    reading.account();
  }

  /** Processes the next piece when it is the sender's turn. */
  #queue(): void {
    if (this.#isQueued || (this.#rest === undefined && this.#messages.length === 0)) return;
    // Frames also wait until some of its calls are answered.
    const reading = this.#reading;
    if (reading.isPausedFor("calls")) return;
    this.#isQueued = true;
    const next = this.#rest === undefined ? this.#messages[0]!.data.length : 0;
    if (next < LARGE_MESSAGE_BYTES || this.#isNextIn) return this.#awaitTurn();
    // A large message costs several times its bytes until its calls are answered.
    this.#options.largeMessages.enter(this.#agent ?? STRANGERS, next, () => {
      this.#entered += next;
      this.#isNextIn = true;
      this.#awaitTurn();
    });
  }

  #awaitTurn(): void {
    const reading = this.#reading;
    const { turns, connection } = this.#options;
    const work = () => {
      this.#isQueued = false;
      if (!reading.isClosed) this.#try(() => this.#processPiece());
      if (reading.isClosed || this.#hasFailed) return this.#drop();
      if (reading.queued <= this.#budgeted.queuedBytes) reading.resume("turn");
      reading.account();
      this.#queue();
    };
    if (this.#agent === undefined) turns.runForStranger(connection.address ?? "", work);
    else turns.run(this.#agent, work);
  }

  #processPiece(): void {
    if (this.#rest === undefined) this.#isNextIn = false;
    const { frames, bytes } = (this.#rest ??= this.#read(this.#messages.shift()!));
    const { itemsPerTurn: most } = this.#budgeted;
    const isLast = frames.length <= most;
    const share = isLast ? bytes : (bytes / frames.length) * most;
    this.#rest = isLast ? undefined : { frames: frames.slice(most), bytes: bytes - share };
    this.#reading.queued -= share;
    this.#pass(frames.slice(0, most), share);
    this.#leave();
  }

  /** Makes room for as many bytes of large messages as are worked off. */
  #leave(): void {
    const called = this.#agentSocket.calls > 0 ? this.#reading.called : 0;
    const inWork = (this.#rest?.bytes ?? 0) + called;
    if (this.#entered <= inWork) return;
    const done = this.#entered - inWork;
    this.#entered = inWork;
    this.#options.largeMessages.leave(done);
  }

  #pass(frames: readonly AgentFrame[], bytes: number): void {
    const reading = this.#reading;
    // Each call holds its share of the message until it is answered.
    const share = bytes / frames.length;
    for (const call of this.#agentSocket.receive(frames, share)) {
      reading.called += share;
      void call.then((status) => this.#answered(status, share));
    }
    if (this.#hasTooManyCalls && !reading.isPausedFor("calls")) {
      this.#options.budgets.hit("callsAtOnce");
      reading.pause("calls");
    }
    const processed = this.#agentSocket.framesProcessed();
    if (processed === undefined) return;
    reading.pause("frames");
    void processed.then(() => reading.resume("frames"));
  }

  get #hasTooManyCalls(): boolean {
    return this.#agentSocket.calls >= this.#budgeted.callsAtOnce;
  }

  #answered(status: number, bytes: number): void {
    const reading = this.#reading;
    reading.called -= bytes;
    if (status === 401) this.#payForFailure();
    if (!this.#hasTooManyCalls) reading.resume("calls");
    this.#leave();
    reading.account();
    if (!reading.isClosed && !this.#hasFailed) this.#queue();
  }

  #drop(): void {
    this.#messages.length = 0;
    this.#rest = undefined;
    this.#reading.queued = 0;
    this.#leave();
    this.#reading.account();
  }

  #read({ data, isBinary }: Message): Rest {
    this.#reading.heardAt = Date.now();
    if (isBinary) throw new WaybillError(400, "A message on this socket must be text, not binary.");
    this.#pay(0, data.length);
    const { envelopeBytes, jsonDepth } = this.#options.limits;
    const frames = readAgentFrames(data.toString("utf8"), {
      characters: messageCharacters(envelopeBytes),
      jsonDepth,
      frames: this.#budgeted.framesPerMessage,
    });
    this.#pay(frames.length, 0);
    return { frames, bytes: data.length };
  }

  #ping(data: Buffer): void {
    this.#reading.heardAt = Date.now();
    this.#pay(1, 0);
    // An agent that pings without reading is pinged instead.
    if (this.#socket.bufferedAmount < LIGHT_BYTES) this.#socket.pong(data);
  }

  /** A sender over its budget is not read for a while; a stranger is disconnected. */
  #pay(frames: number, bytes: number): void {
    const { tolls, toll } = this.#options;
    if (this.#agent === undefined) {
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
      frames === 0 ? 0 : tolls.takeFrames(this.#agent, frames),
      bytes === 0 ? 0 : tolls.takeBytes(this.#agent, bytes),
    );
    if (early > 0) this.#reading.pauseFor(early);
  }

  /** A signature on it was invalid. */
  #payForFailure(): void {
    const { tolls, toll } = this.#options;
    if (this.#agent === undefined) return tolls.fail(toll.address);
    const early = tolls.failOf(this.#agent);
    if (early > 0) this.#reading.pauseFor(early);
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
      this.#reading.pause("failed");
    }
    this.#payAfterFailure(0, bytes);
  }

  #frameAfterFailure(): void {
    if (++this.#framesAfterFailure >= this.#budgeted.framesAfterFailure) {
      this.#options.budgets.hit("framesAfterFailure");
      this.#reading.pause("failed");
    }
    this.#payAfterFailure(1, 0);
  }

  #payAfterFailure(frames: number, bytes: number): void {
    const { tolls, toll } = this.#options;
    try {
      if (this.#agent === undefined) return tolls.late(toll, frames, bytes);
      if (frames > 0) tolls.takeFrames(this.#agent, frames);
      if (bytes > 0) tolls.takeBytes(this.#agent, bytes);
    } catch {
      // It already got the reason for the close.
      this.#reading.pause("failed");
    }
  }

  #try(work: () => void): void {
    if (this.#hasFailed) return this.#frameAfterFailure();
    try {
      work();
    } catch (error) {
      this.#hasFailed = true;
      this.#agentSocket.end(WaybillError.from(error));
    }
  }
}

/** The size of the header of a client's frame with that many bytes (RFC 6455). */
function headBytes(length: number): number {
  return length < 126 ? 6 : length < 65_536 ? 8 : 14;
}
