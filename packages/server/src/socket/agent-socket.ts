/// <reference types="node" />
import type { Attachment, Delivery, HubServer } from "@waybill/hub";
import { readCompact, WaybillError } from "@waybill/protocol";
import {
  checkHello,
  messageCharacters,
  readHello,
  readSubmission,
  writeDelta,
  writeProblem,
} from "@waybill/protocol/wire";
import type { AgentFrame, CallName, HubFrame, Newcomers, ShownDelta } from "@waybill/protocol/wire";
import type { WebSocket } from "ws";
import type { FairSlots } from "../access/fair-slots.ts";
import type { RateLimits, Toll } from "../access/rate-limits.ts";
import type { Budgets } from "../budgets.ts";
import type { Connection, Connections } from "../http/connections.ts";
import { answerCall } from "./call.ts";
import { Outbox } from "./outbox.ts";
import type { Reading } from "./reading.ts";

/** The hub behind a socket, and the limits between them. */
export interface AgentSocketOptions {
  readonly hub: HubServer;
  readonly budgets: Budgets;
  readonly tolls: RateLimits;
  readonly connections: Connections;
  readonly connection: Connection;
  /** What the connection has paid so far. */
  readonly toll: Toll;
  /** Whose first manifest is accepted. */
  readonly newcomers: Newcomers;
  readonly slots: FairSlots;
  readonly searchSlots: FairSlots;
  readonly nonce: string;
  /** A call was answered: with which status, 200 for a success. */
  readonly called: (call: CallName, status: number, seconds: number) => void;
}

const CLOSED_NORMALLY = 1000;
/** With more unread than this, deltas would be late, and so would everything behind them. */
const UNREAD_BYTES_BEFORE_DELTAS = 64 * 1024;

type Call = Extract<AgentFrame, { type: "call" }>;

/** One socket: authenticates the agent, then passes calls one way and deliveries the other. */
export class AgentSocket {
  readonly ended: Promise<void>;
  readonly #socket: WebSocket;
  readonly #options: AgentSocketOptions;
  readonly #reading: Reading;
  readonly #outbox: Outbox;
  readonly #timers = new Set<NodeJS.Timeout>();
  #agent: string | undefined;
  #attachment: Attachment | undefined;
  #early: Delivery[] | undefined = [];
  #isGreeting = false;
  #calls = 0;
  #callsOfStranger = 0;
  #isClosing = false;
  /** Its credit, which is suspended while it does not read. */
  #credit = 0;
  #isSlow = false;
  #saidAt = 0;
  #idle: (() => void) | undefined;

  constructor(socket: WebSocket, reading: Reading, options: AgentSocketOptions) {
    this.#socket = socket;
    this.#reading = reading;
    this.#options = options;
    this.#outbox = new Outbox((message) => this.#send(message));
    this.ended = new Promise((resolve) => socket.once("close", () => resolve()));
    // An invalid WebSocket frame ends it: ws closes with the right code.
    socket.on("error", () => undefined);
    socket.once("close", () => this.#left());
    const { hub, nonce, budgets } = options;
    const { envelopeBytes } = hub.operator.limits;
    this.#say({
      type: "challenge",
      waybill: 1,
      hub: hub.id,
      domain: hub.domain,
      nonce,
      limits: {
        message_characters: messageCharacters(envelopeBytes),
        envelope_bytes: envelopeBytes,
      },
    });
    const { helloMs } = budgets.limits;
    this.#after(helloMs, () => {
      if (this.#attachment !== undefined) return;
      this.end(budgets.refuse("helloMs", `No hello arrived within ${helloMs} ms.`));
    });
  }

  get #limits(): Budgets["limits"] {
    return this.#options.budgets.limits;
  }

  get agent(): string | undefined {
    return this.#agent;
  }

  /** The number of calls that are not answered yet. */
  get calls(): number {
    return this.#calls;
  }

  /**
   * Receives frames, each with its share of the bytes of their message. Returns the calls among them:
   * they settle with their status, once answered.
   */
  receive(frames: readonly AgentFrame[], bytes: number): readonly Promise<number>[] {
    if (this.#isClosing) return [];
    const calls: Promise<number>[] = [];
    for (const frame of frames) {
      if (frame.type === "call") calls.push(this.#call(frame, bytes));
      else this.#handle(frame);
    }
    return calls;
  }

  /** Settles when the hub has processed all but a few frames of the agent; undefined if it has. */
  framesProcessed(): Promise<void> | undefined {
    if (this.#isClosing || this.#agent === undefined) return undefined;
    return this.#options.hub.operator.framesProcessed(this.#agent);
  }

  #handle(frame: Exclude<AgentFrame, Call>): void {
    switch (frame.type) {
      case "taken":
        return this.#attached(frame.type).taken(frame.handoff_id, frame.attempt);
      case "heartbeat":
        return this.#attached(frame.type).heartbeat(frame.handoff_id, frame.attempt);
      case "delta": {
        const { handoff_id: handoffId, attempt, number, text } = frame;
        return this.#attached(frame.type).delta({ handoffId, attempt, number, text });
      }
      case "seen":
        return this.#attached(frame.type).seen(frame.id);
      case "credit":
        this.#credit = frame.credit;
        return this.#attached(frame.type).setCredit(this.#isSlow ? 0 : frame.credit);
      case "hello":
        if (this.#isGreeting) throw new WaybillError(400, "A socket accepts only one hello.");
        this.#isGreeting = true;
        this.#options.connection.isBusy = true;
        this.#greet(frame.proof, frame.credit).catch((error: unknown) =>
          this.end(WaybillError.from(error)),
        );
        return;
      case "ping":
        return this.#say({ type: "pong" });
      case "pong":
    }
  }

  #attached(type: AgentFrame["type"]): Attachment {
    if (this.#attachment !== undefined) return this.#attachment;
    throw new WaybillError(
      401,
      `A ${type} arrived before the socket sent its hello and was attached.`,
    );
  }

  async #greet(proof: string, credit: number): Promise<void> {
    const { hub, nonce, connections, connection, tolls } = this.#options;
    const hello = readHello(readCompact(proof).payload);
    const { operator } = hub;
    const { clockSkewMs } = operator.limits;
    const { id: to, domain } = hub;
    checkHello(hello, { to, domain, now: operator.now(), clockSkewMs, nonce });
    const { from: agent, instance } = hello;
    tolls.attaching(agent);
    const attachment = await hub.attach(
      { agent, instance, credit, proof },
      (delivery) => this.#deliver(delivery),
      (delta) => this.#show(delta),
    );
    tolls.attached(agent);
    if (this.#isClosing) return attachment.close();
    connections.prove(connection, agent);
    this.#agent = agent;
    this.#attachment = attachment;
    this.#credit = credit;
    this.#say({ type: "attached", ping_ms: this.#limits.pingMs });
    const early = this.#early ?? [];
    this.#early = undefined;
    for (const delivery of early) this.#deliver(delivery);
    this.#keepAlive();
    attachment.closed.then(
      (reason) => this.end(reason),
      (error: unknown) => this.end(WaybillError.from(error)),
    );
  }

  #deliver(delivery: Delivery): void {
    if (this.#early !== undefined) {
      this.#early.push(delivery);
      return;
    }
    this.#say({ type: "delivery", delivery });
  }

  /** Only deltas that can be shown soon are worth sending. */
  #show(delta: ShownDelta): void {
    if (this.#early !== undefined || this.#isClosing) return;
    if (this.#socket.bufferedAmount > UNREAD_BYTES_BEFORE_DELTAS) return;
    this.#say({ type: "delta", ...writeDelta(delta), by: delta.by });
  }

  /** Answers a call. Throws at once if it may not be made before the hello. */
  #call(frame: Call, bytes: number): Promise<number> {
    if (this.#attachment === undefined) {
      if (frame.call !== "publish") {
        throw new WaybillError(
          401,
          `Before its hello, a socket may only publish manifests, but it called ${frame.call}. Send a hello first.`,
        );
      }
      const { callsOfStranger } = this.#limits;
      if (++this.#callsOfStranger > callsOfStranger) {
        throw this.#options.budgets.refuse(
          "callsOfStranger",
          `Before its hello, a socket may publish at most ${callsOfStranger} manifests. Send a hello, or publish the others over another socket.`,
        );
      }
    }
    return this.#answer(frame, bytes);
  }

  async #answer(frame: Call, bytes: number): Promise<number> {
    const { slots, searchSlots, connection } = this.#options;
    this.#calls++;
    const since = performance.now();
    const who = this.#agent ?? connection.address ?? "";
    const pool = frame.call === "find" ? searchSlots : slots;
    let status = 200;
    let reply: () => void;
    try {
      reply = await pool.run(who, () => this.#replyTo(frame, bytes));
    } catch (error) {
      const problem = writeProblem(WaybillError.from(error));
      status = problem.waybill_status;
      reply = () => this.#say({ type: "reply", number: frame.number, problem });
    }
    this.#options.called(frame.call, status, (performance.now() - since) / 1000);
    reply();
    this.#calls--;
    if (this.#calls === 0) this.#idle?.();
    return status;
  }

  /** Makes a call; returns what sends the answer. */
  async #replyTo({ call, number, params }: Call, bytes: number): Promise<() => void> {
    const { hub, newcomers, tolls, toll } = this.#options;
    if (call === "submit") {
      const { envelope, sharesReceipt } = readSubmission(params);
      const receipt = await hub.submit(envelope, sharesReceipt ? this.#agent : undefined);
      return () => this.#outbox.confirm(number, receipt, sharesReceipt);
    }
    if (call === "publish") tolls.publish(toll.address, bytes);
    const value = await answerCall({ hub, newcomers }, this.#agent, call, params);
    return () => this.#say({ type: "reply", number, value });
  }

  #say(frame: HubFrame): void {
    this.#outbox.push(JSON.stringify(frame));
  }

  #send(message: string): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    this.#saidAt = Date.now();
    this.#socket.send(message, () => this.#hasRead());
    this.#reading.account();
    const { budgets } = this.#options;
    const { unsentBytes, slowBytes } = budgets.limits;
    const { bufferedAmount } = this.#socket;
    if (bufferedAmount > slowBytes && !this.#isSlow) {
      budgets.hit("slowBytes");
      // Offers would wait here unread, while other agents could work on them.
      this.#isSlow = true;
      this.#attachment?.setCredit(0);
    }
    if (bufferedAmount <= unsentBytes || this.#isClosing) return;
    this.end(
      budgets.refuse(
        "unsentBytes",
        `More than ${unsentBytes} bytes wait to be read here. They stay in the inbox: attach again to get them.`,
      ),
    );
    // It does not read, so it would not read that either.
    this.#socket.terminate();
  }

  #hasRead(): void {
    this.#reading.account();
    if (!this.#isSlow || this.#socket.bufferedAmount > this.#limits.slowBytes / 2) return;
    this.#isSlow = false;
    this.#attachment?.setCredit(this.#credit);
  }

  /** Proxies close silent connections, and a dead connection is silent. */
  #keepAlive(): void {
    const { pingMs } = this.#limits;
    const timer = setInterval(() => {
      const now = Date.now();
      // A connection that is not read can't be heard.
      if (this.#reading.isPaused) this.#reading.heardAt = now;
      if (now - this.#reading.heardAt > 2 * pingMs) {
        this.end(
          this.#options.budgets.refuse("pingMs", `Nothing was received for ${2 * pingMs} ms.`),
        );
        return this.#socket.terminate();
      }
      if (now - this.#saidAt >= pingMs / 2) this.#say({ type: "ping" });
    }, pingMs / 2);
    this.#timers.add(timer);
  }

  #after(ms: number, callback: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      callback();
    }, ms);
    this.#timers.add(timer);
  }

  /** Answers calls under way first, then closes. */
  async drain(reason: WaybillError): Promise<void> {
    this.#isClosing = true;
    if (this.#calls > 0) {
      await new Promise<void>((resolve) => {
        this.#idle = resolve;
        this.#after(this.#limits.closeMs, resolve);
      });
    }
    this.#isClosing = false;
    this.end(reason);
    await this.ended;
  }

  /** Sends the reason, and closes. */
  end(reason: WaybillError | undefined): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    if (reason !== undefined) this.#say({ type: "closed", problem: writeProblem(reason) });
    this.#outbox.flush();
    this.#socket.close(CLOSED_NORMALLY);
    // The rest of the closing handshake depends on the other side.
    const timer = setTimeout(() => this.#socket.terminate(), this.#limits.closeMs);
    this.#socket.once("close", () => clearTimeout(timer));
  }

  #left(): void {
    this.#isClosing = true;
    this.#reading.close();
    for (const timer of this.#timers) clearTimeout(timer);
    this.#attachment?.close().catch(() => undefined);
    this.#idle?.();
  }
}
