/// <reference types="node" />
import type { IncomingMessage } from "node:http";
import { connect as dial } from "node:net";
import { WaybillError } from "@waybill/protocol";
import {
  errorOfResponse,
  messageCharacters,
  readDelivery,
  readHubFrames,
  readProblem,
  writeDelta,
} from "@waybill/protocol/wire";
import type {
  AgentFrame,
  Attachment,
  CallName,
  Delivery,
  Delta,
  HubFrame,
  ShownDelta,
} from "@waybill/protocol/wire";
import { WebSocket } from "ws";
import type { Address } from "./address.ts";
import { Calls } from "./calls.ts";
import { Outbox } from "./outbox.ts";

/** Timeouts, in milliseconds. */
export interface Waits {
  /** For connecting and the hub's first message, and for the answer to a hello. */
  readonly openMs: number;
  /** For the answer to a call while the connection is open. */
  readonly callMs: number;
  /** For the hub to close its side too. */
  readonly closeMs: number;
}

export const WAITS: Waits = { openMs: 10_000, callMs: 30_000, closeMs: 2_000 };

/** An offer may carry all answers that were given so far: it is longer than one envelope, but bounded. */
const MESSAGE_CHARACTERS = 64 * 1024 * 1024;
const FRAMES_PER_MESSAGE = 1_024;
/** Beyond this the hub is not reading, and further calls would only pile up. */
const UNSENT_BYTES = 64 * 1024 * 1024;
const REFUSAL_CHARACTERS = 64 * 1024;
/** How many ping intervals the hub may be silent, not even answering a ping. */
const SILENCES_AT_MOST = 2;
/**
 * The longest ping interval, whatever the hub asks for: a dead connection must be noticed, and no
 * timer can wait for longer than 24 days.
 */
const PING_AT_LEAST_EVERY_MS = 60_000;

export interface Challenge {
  readonly hub: string;
  readonly domain: string;
  readonly nonce: string;
}

/** Receives what arrives over a socket: the `Deliveries` of its agent. */
export interface SocketReceiver {
  readonly receive: (delivery: Delivery) => void;
  readonly show?: ((delta: ShownDelta) => void) | undefined;
  /** A delivery could not be read or handled. */
  readonly failed?: ((error: unknown) => void) | undefined;
}

/** One connection to a hub, from its challenge until it ends. It is not reopened. */
export class HubSocket implements Attachment {
  /** The hub's challenge; rejects if it does not come. */
  readonly challenge: Promise<Challenge>;
  /** Settles when the connection has ended: with the reason, or with undefined if it was closed here. */
  readonly closed: Promise<WaybillError | undefined>;
  readonly #url: string;
  readonly #waits: Waits;
  readonly #socket: WebSocket;
  readonly #calls: Calls;
  readonly #challenge = Promise.withResolvers<Challenge>();
  readonly #attached = Promise.withResolvers<void>();
  readonly #closed = Promise.withResolvers<WaybillError | undefined>();
  #outbox: Outbox;
  #receiver: SocketReceiver | undefined;
  #opening: NodeJS.Timeout | undefined;
  #pinging: NodeJS.Timeout | undefined;
  #isOpen = true;
  #isChallenged = false;
  #hasSent = false;
  #hasHeard = true;
  #silences = 0;

  constructor({ url, socket: socketUrl, socketPath }: Omit<Address, "path">, waits: Waits = WAITS) {
    this.#url = socketPath === undefined ? socketUrl : url;
    this.#waits = waits;
    this.#calls = new Calls(waits.callMs);
    this.challenge = this.#challenge.promise;
    this.closed = this.#closed.promise;
    for (const { promise } of [this.#challenge, this.#attached]) promise.catch(() => undefined);
    this.#outbox = this.#outboxOf(messageCharacters());
    const socket = new WebSocket(socketUrl, {
      perMessageDeflate: false,
      followRedirects: false,
      maxPayload: MESSAGE_CHARACTERS,
      // A ws+unix: URL could not name every path.
      ...(socketPath !== undefined && { createConnection: () => dial(socketPath) }),
    });
    this.#socket = socket;
    socket.on("message", (data) => this.#read(data as Buffer));
    socket.on("unexpected-response", (_, response) => this.#refused(response));
    socket.on("error", (error) => this.#cut(this.#lost(error.message || "is out of reach", error)));
    socket.on("close", (code, reason) => {
      this.#cut(this.#lost(`closed the connection (${code} ${reason.toString()})`.trim()));
    });
    this.#expect("has sent nothing");
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Says hello; settles once the hub has admitted the agent. Deliveries come from then on. */
  async attach(proof: string, credit: number, receiver: SocketReceiver): Promise<void> {
    this.#receiver = receiver;
    this.#expect("has not answered the hello");
    this.send({ type: "hello", proof, credit });
    await this.#attached.promise;
  }

  call(call: CallName, given: object): Promise<unknown> {
    if (!this.#isOpen) return Promise.reject(this.#lost("is not connected"));
    if (this.#socket.bufferedAmount > UNSENT_BYTES) {
      return Promise.reject(this.#lost("does not read what it is sent"));
    }
    const { number, answer } = this.#calls.add(call);
    const params = given as { readonly [name: string]: unknown };
    this.send({ type: "call", number, call, params });
    return answer;
  }

  /** Sends a frame that has no answer; after the connection has ended it is dropped. */
  send(frame: AgentFrame): void {
    if (this.#isOpen) this.#outbox.put(frame);
  }

  taken(handoffId: string, attempt: number): void {
    this.send({ type: "taken", handoff_id: handoffId, attempt });
  }

  heartbeat(handoffId: string, attempt: number): void {
    this.send({ type: "heartbeat", handoff_id: handoffId, attempt });
  }

  delta(delta: Delta): void {
    this.send({ type: "delta", ...writeDelta(delta) });
  }

  seen(deliveryId: string): void {
    this.send({ type: "seen", id: deliveryId });
  }

  setCredit(credit: number): void {
    this.send({ type: "credit", credit });
  }

  /** Sends what is queued, and waits briefly until the hub has closed its side. */
  async close(): Promise<void> {
    const { readyState } = this.#socket;
    if (!this.#isOpen || readyState !== WebSocket.OPEN) return this.#cut(undefined);
    this.#outbox.flush();
    this.#end(undefined);
    this.#socket.close(1000);
    const isClosed = new Promise<void>((resolve) => this.#socket.once("close", () => resolve()));
    const timer = setTimeout(() => this.#socket.terminate(), this.#waits.closeMs);
    await isClosed;
    clearTimeout(timer);
  }

  #outboxOf(characters: number): Outbox {
    return new Outbox((message) => {
      this.#hasSent = true;
      this.#socket.send(message);
    }, characters);
  }

  #expect(silence: string): void {
    clearTimeout(this.#opening);
    const { openMs } = this.#waits;
    this.#opening = setTimeout(
      () => this.#cut(this.#lost(`${silence} in ${openMs / 1000} s`)),
      openMs,
    );
  }

  #read(data: Buffer): void {
    this.#hasHeard = true;
    let frames: readonly HubFrame[];
    try {
      frames = readHubFrames(data.toString(), {
        characters: MESSAGE_CHARACTERS,
        frames: FRAMES_PER_MESSAGE,
      });
    } catch (error) {
      return this.#cut(this.#lost("sent a message that breaks the protocol", error));
    }
    for (const frame of frames) {
      if (!this.#isOpen) return;
      this.#handle(frame);
    }
  }

  #refused(response: IncomingMessage): void {
    let body = "";
    response.on("data", (data: Buffer) => {
      if (body.length < REFUSAL_CHARACTERS) body += data.toString();
    });
    response.once("close", () => this.#cut(errorOfResponse(response.statusCode ?? 0, body)));
  }

  #handle(frame: HubFrame): void {
    switch (frame.type) {
      case "challenge":
        // A second challenge would end the wait for the answer to the hello.
        if (this.#isChallenged) return this.#cut(this.#lost("has sent a second challenge"));
        this.#isChallenged = true;
        clearTimeout(this.#opening);
        this.#outbox = this.#outboxOf(frame.limits.message_characters);
        return this.#challenge.resolve(frame);
      case "attached":
        clearTimeout(this.#opening);
        this.#pinging ??= setInterval(
          () => this.#ping(),
          Math.min(frame.ping_ms, PING_AT_LEAST_EVERY_MS),
        );
        return this.#attached.resolve();
      case "closed":
        return this.#cut(problemOf(frame.problem));
      case "reply":
        if ("problem" in frame) this.#calls.reject(frame.number, problemOf(frame.problem));
        else this.#calls.resolve([frame.number, ...(frame.also ?? [])], frame.value);
        return;
      case "delivery":
        return this.#deliver(frame.delivery);
      case "delta": {
        const { handoff_id: handoffId, attempt, number, text, by } = frame;
        return this.#receiver?.show?.({ handoffId, attempt, number, text, by });
      }
      case "ping":
        return this.send({ type: "pong" });
      case "pong":
    }
  }

  /** A delivery that can't be read or handled is not acknowledged: it comes again, and blocks no other. */
  #deliver(delivery: Delivery): void {
    try {
      this.#receiver?.receive(readDelivery(delivery));
    } catch (error) {
      this.#receiver?.failed?.(error);
    }
  }

  /** A dead connection looks like an idle one: only an answer tells them apart. */
  #ping(): void {
    this.#silences = this.#hasHeard ? 0 : this.#silences + 1;
    if (this.#silences > SILENCES_AT_MOST) {
      return this.#cut(this.#lost("has not answered two pings"));
    }
    if (!this.#hasSent || !this.#hasHeard) this.send({ type: "ping" });
    this.#hasSent = false;
    this.#hasHeard = false;
  }

  #lost(what: string, cause?: unknown): WaybillError {
    return new WaybillError(503, `The hub at ${this.#url} ${what}.`, { cause });
  }

  #cut(reason: WaybillError | undefined): void {
    this.#end(reason);
    this.#socket.terminate();
  }

  #end(reason: WaybillError | undefined): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    clearTimeout(this.#opening);
    clearInterval(this.#pinging);
    const error = reason ?? this.#lost("is not connected any more: it was closed here");
    this.#challenge.reject(error);
    this.#attached.reject(error);
    // Whether the call had an effect is unknown, for whatever reason the connection ended: it may be
    // retried.
    this.#calls.rejectAll(
      error.status === 503 ? error : this.#lost(`ended the connection: ${error.message}`, error),
    );
    this.#closed.resolve(reason);
  }
}

/** An unreadable answer is no final one: the call is retried. */
function problemOf(problem: unknown): WaybillError {
  try {
    return readProblem(problem);
  } catch (cause) {
    return new WaybillError(503, "The hub answered with an error that can't be read.", { cause });
  }
}
