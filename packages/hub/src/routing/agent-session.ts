import { WaybillError } from "@waybill/protocol";
import { InFlight, readerOfDelta } from "@waybill/protocol/wire";
import type {
  Attachment,
  AttachRequest,
  Clock,
  Delivery,
  Delta,
  ShownDelta,
} from "@waybill/protocol/wire";
import { DeadlineTimer } from "../deadline-timer.ts";
import { HUB_LIMITS } from "../engine/options.ts";
import { charactersOf } from "./delivery-size.ts";
import { DeltaRate } from "./delta-rate.ts";

/** What an attachment reports to the hub. */
export interface AgentSessionEvents {
  /** Settles when it was processed. */
  frame(
    attached: AgentSession,
    type: "taken" | "heartbeat",
    handoffId: string,
    attempt: number,
  ): Promise<void>;
  /** A piece of what the agent writes, for this delegator. */
  delta(delegator: string, delta: ShownDelta): void;
  /** The number of characters held until the agent has acknowledged them has changed. */
  holds(more: number): void;
  hasRoom(attached: AgentSession): void;
  /** It has room and had none, or the other way round. */
  roomChanged(attached: AgentSession): void;
  left(attached: AgentSession): void;
  /** Its connection has thrown on a delivery. */
  failed(error: unknown): void;
}

export interface AttachingAgent extends Omit<AttachRequest, "proof"> {
  /** When it said hello, by its own clock; undefined if it has authenticated just now. */
  readonly helloAt?: number | undefined;
  /** The keys on which it depends: it ends when none of them is valid. By default on none. */
  readonly kids?: readonly string[] | undefined;
  /** Receives the deltas for it; undefined if its connection does not show them. */
  readonly show?: ((delta: ShownDelta) => void) | undefined;
}

/** An attempt that an agent works on. */
interface HeldAttempt {
  readonly attempt: number;
  readonly capability: string;
  readonly delegator: string;
  readonly since: number;
  readonly deltas: DeltaRate;
}

type Tracked = Exclude<Delivery, { type: "stop" }>;

/** After this time without an acknowledgement, a delivery is sent again. */
const SEND_AGAIN_AFTER_MS = 10_000;
/** Unacknowledged deliveries to one agent; an inbox is longer, and waits. */
const UNSEEN_AT_MOST = 256;
/** Beyond this an agent is not reading at all, and is disconnected. */
const UNREAD_AT_MOST = 16 * UNSEEN_AT_MOST;
/** The same for the characters in them. */
const UNSEEN_CHARACTERS = 4 * 1024 * 1024;
const UNREAD_CHARACTERS = 4 * UNSEEN_CHARACTERS;

/** Heartbeats and frames "taken" under way: beyond this, reading from its connection pauses. */
const FRAMES_AT_ONCE = 1_024;

/** The hub's side of one connected agent. */
export class AgentSession implements Attachment {
  readonly agent: string;
  readonly instance: string;
  readonly helloAt: number | undefined;
  /** The keys on which it depends. */
  kids: readonly string[] | undefined;
  readonly closed: Promise<WaybillError | undefined>;
  /** Its connection: the `AgentSocket` of a server, or the `Deliveries` of an agent in this process. */
  readonly #handler: (delivery: Delivery) => void;
  readonly #deltasPerSecond: number;
  readonly #show: ((delta: ShownDelta) => void) | undefined;
  readonly #clock: Clock;
  readonly #events: AgentSessionEvents;
  readonly #settle: (reason: WaybillError | undefined) => void;
  /** The attempts that it is working on, by handoff. */
  readonly #held = new InFlight<string, HeldAttempt>();
  /** How many of them for each capability. */
  readonly #counts = new Map<string, number>();
  readonly #unseen = new InFlight<string, { delivery: Tracked; at: number }>();
  #unseenCharacters = 0;
  /** Work for which it had credit was not offered to it. */
  #isCrowded = false;
  #frames = 0;
  #drained: (() => void)[] = [];
  readonly #sendAgainTimer: DeadlineTimer;
  #credit: number;
  #roomChanges = 0;
  #hasRoom: boolean;
  #isOpen = true;

  constructor(
    request: AttachingAgent,
    handler: (delivery: Delivery) => void,
    clock: Clock,
    events: AgentSessionEvents,
    deltasPerSecond: number = HUB_LIMITS.deltasPerSecond,
  ) {
    this.agent = request.agent;
    this.instance = request.instance;
    this.helloAt = request.helloAt;
    this.kids = request.kids;
    this.#credit = request.credit;
    this.#hasRoom = request.credit > 0;
    this.#handler = handler;
    this.#show = request.show;
    this.#deltasPerSecond = deltasPerSecond;
    this.#clock = clock;
    this.#sendAgainTimer = new DeadlineTimer(clock, () => this.#sendAgain());
    this.#events = events;
    let settle: (reason: WaybillError | undefined) => void;
    this.closed = new Promise((resolve) => (settle = resolve));
    this.#settle = settle!;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** How many more attempts it takes. */
  get room(): number {
    // While many deliveries are unacknowledged, more would only wait on the way.
    if (!this.#isOpen || this.#unseenCharacters >= UNSEEN_CHARACTERS) return 0;
    return Math.max(0, this.#credit - this.#held.size);
  }

  /** Counts the changes of its room. */
  get roomChanges(): number {
    return this.#roomChanges;
  }

  #noteRoom(): void {
    this.#roomChanges++;
    const hasRoom = this.room > 0;
    if (hasRoom === this.#hasRoom) return;
    this.#hasRoom = hasRoom;
    // The index of those with room follows (attached-capabilities.ts).
    this.#events.roomChanged(this);
  }

  /** How many more attempts at one capability, which has a limit of its own. */
  roomFor(capability: string, concurrency: number = Infinity): number {
    const room = this.room;
    if (room === 0 || concurrency === Infinity) return room;
    return Math.max(0, Math.min(room, concurrency - this.inFlight(capability)));
  }

  get heldCount(): number {
    return this.#held.size;
  }

  inFlight(capability: string): number {
    return this.#counts.get(capability) ?? 0;
  }

  heldAttempt(handoffId: string): number | undefined {
    return this.#held.get(handoffId)?.attempt;
  }

  /** How long ago it was given the attempt that it holds. */
  heldMs(handoffId: string): number | undefined {
    const held = this.#held.get(handoffId);
    return held === undefined ? undefined : Math.max(0, this.#clock.now() - held.since);
  }

  hold(
    handoffId: string,
    { attempt, capability, delegator }: Omit<HeldAttempt, "since" | "deltas">,
  ): void {
    this.#letGo(handoffId);
    const deltas = new DeltaRate(this.#deltasPerSecond);
    const since = this.#clock.now();
    this.#held.set(handoffId, { attempt, capability, delegator, since, deltas });
    this.#counts.set(capability, this.inFlight(capability) + 1);
    this.#noteRoom();
  }

  #letGo(handoffId: string): boolean {
    const held = this.#held.get(handoffId);
    if (held === undefined) return false;
    const left = this.inFlight(held.capability) - 1;
    if (left > 0) this.#counts.set(held.capability, left);
    else this.#counts.delete(held.capability);
    this.#held.delete(handoffId);
    this.#noteRoom();
    return true;
  }

  drop(handoffId: string): void {
    if (this.#letGo(handoffId) && this.room > 0) this.#events.hasRoom(this);
  }

  deliver(delivery: Delivery): void {
    if (!this.#isOpen) return;
    if (delivery.type !== "stop") {
      this.#forget(delivery.id);
      this.#unseen.set(delivery.id, { delivery, at: this.#clock.now() });
      this.#weigh(charactersOf(delivery));
      // All together may have been too much, and this one the heaviest.
      if (!this.#isOpen) return;
      this.#arm();
      const isFull =
        this.#unseen.size > UNREAD_AT_MOST || this.#unseenCharacters > UNREAD_CHARACTERS;
      if (isFull) return this.end(unread(this.agent));
    }
    this.#pass(delivery);
  }

  /** An agent's error must not become the hub's. */
  #pass(delivery: Delivery): void {
    try {
      this.#handler(delivery);
    } catch (error) {
      this.#events.failed(error);
    }
  }

  #forget(deliveryId: string): boolean {
    const unseen = this.#unseen.get(deliveryId);
    if (unseen === undefined) return false;
    this.#unseen.delete(deliveryId);
    this.#weigh(-charactersOf(unseen.delivery));
    return true;
  }

  #weigh(more: number): void {
    const wasMuch = this.#unseenCharacters >= UNSEEN_CHARACTERS;
    this.#unseenCharacters += more;
    const isMuch = this.#unseenCharacters >= UNSEEN_CHARACTERS;
    this.#isCrowded ||= isMuch;
    if (isMuch !== wasMuch) this.#noteRoom();
    this.#events.holds(more);
  }

  /** Offers that were held back for unacknowledged deliveries can be made now. */
  #offerAgain(): void {
    if (!this.#isCrowded || this.room === 0) return;
    this.#isCrowded = false;
    this.#events.hasRoom(this);
  }

  /** What it was sent and has not acknowledged. */
  get unseenCharacters(): number {
    return this.#unseenCharacters;
  }

  /** Whether so much is unacknowledged that the rest of an inbox has to wait. */
  get isBehind(): boolean {
    return this.#unseen.size >= UNSEEN_AT_MOST || this.#unseenCharacters >= UNSEEN_CHARACTERS;
  }

  /** Settles when an inbox may continue: not too much is unacknowledged. */
  async ready(): Promise<void> {
    while (this.#isOpen && this.isBehind) {
      await new Promise<void>((resolve) => this.#drained.push(resolve));
    }
  }

  taken(handoffId: string, attempt: number): void {
    this.#frame("taken", handoffId, attempt);
  }

  heartbeat(handoffId: string, attempt: number): void {
    this.#frame("heartbeat", handoffId, attempt);
  }

  delta(delta: Delta): void {
    const held = this.#held.get(delta.handoffId);
    const delegator = readerOfDelta(held, delta);
    if (delegator === undefined || !held!.deltas.take(this.#clock.now())) return;
    this.#events.delta(delegator, { ...delta, by: this.agent });
  }

  /** Shows a delta, if its reader exists and keeps up. */
  show(delta: ShownDelta): void {
    if (this.#isOpen && !this.isBehind) this.#show?.(delta);
  }

  #frame(type: "taken" | "heartbeat", handoffId: string, attempt: number): void {
    if (!this.#isOpen) return;
    this.#frames++;
    const isProcessed = () => {
      if (--this.#frames <= FRAMES_AT_ONCE / 2) this.#wakeDrained();
    };
    this.#events.frame(this, type, handoffId, attempt).then(isProcessed, isProcessed);
  }

  /** Settles when all but a few of its frames were processed; undefined if few are under way. */
  framesProcessed(): Promise<void> | undefined {
    return this.#isOpen && this.#frames > FRAMES_AT_ONCE ? this.#framesProcessed() : undefined;
  }

  async #framesProcessed(): Promise<void> {
    while (this.#isOpen && this.#frames > FRAMES_AT_ONCE) {
      await new Promise<void>((resolve) => this.#drained.push(resolve));
    }
  }

  seen(deliveryId: string): void {
    if (!this.#forget(deliveryId)) return;
    const isFew = this.#unseen.size < UNSEEN_AT_MOST / 2;
    if (isFew && this.#unseenCharacters < UNSEEN_CHARACTERS / 2) this.#wakeDrained();
    this.#offerAgain();
  }

  setCredit(credit: number): void {
    const hadRoom = this.room > 0;
    this.#credit = credit;
    this.#noteRoom();
    // If it already had room, everything suitable has been offered.
    if (!hadRoom && this.room > 0) this.#events.hasRoom(this);
  }

  close(): Promise<void> {
    this.end(undefined);
    return Promise.resolve();
  }

  end(reason: WaybillError | undefined): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#sendAgainTimer.clear();
    this.#weigh(-this.#unseenCharacters);
    this.#unseen.clear();
    this.#held.clear();
    this.#counts.clear();
    this.#wakeDrained();
    this.#events.left(this);
    this.#settle(reason);
  }

  /** What is on disk for it could not be delivered, and will be when it attaches again. */
  endUnserved(cause: unknown): void {
    const message = `The hub could not deliver everything in the inbox of ${this.agent}: attach again to get the rest.`;
    this.end(new WaybillError(503, message, { cause }));
  }

  #wakeDrained(): void {
    for (const resolve of this.#drained) resolve();
    this.#drained = [];
  }

  #arm(): void {
    this.#sendAgainTimer.note(this.#clock.now() + SEND_AGAIN_AFTER_MS);
  }

  #sendAgain(): void {
    const now = this.#clock.now();
    for (const unseen of this.#unseen.values()) {
      // An untaken offer becomes another attempt; it is not repeated here.
      if (unseen.delivery.type === "offer") this.#forget(unseen.delivery.id);
      else if (now - unseen.at >= SEND_AGAIN_AFTER_MS) {
        unseen.at = now;
        this.#pass(unseen.delivery);
      }
    }
    this.#wakeDrained();
    this.#offerAgain();
    if (this.#isOpen && this.#unseen.size > 0) this.#arm();
  }
}

function unread(agent: string): WaybillError {
  return new WaybillError(
    413,
    `${agent} has left ${UNREAD_AT_MOST} deliveries unread, or ${UNREAD_CHARACTERS} characters. They stay in its inbox: attach again to get them.`,
  );
}
