import { recordOf } from "../custody/handoff-record.ts";
import type { Page, StoredHandoff, WaitingPlace } from "../store.ts";

const CAPABILITY = "capability:";
/**
 * How many handoffs are kept that arrived before the current position; with more, the queue starts
 * over.
 */
const EARLY_AT_MOST = 1_024;

export type ReadPage = (
  target: string,
  page: Page<WaitingPlace>,
) => Promise<readonly StoredHandoff[]>;

/** A waiting handoff, with what must be known to offer it. */
export interface QueuedHandoff extends WaitingPlace {
  readonly capability: string;
}

/** Which work an agent has room for. */
export interface Room {
  isFull(capability: string): boolean;
  /** How many attempts it works on. */
  inFlight(capability: string): number;
}

/** Where to continue once the agent works on fewer attempts of a capability than this. */
interface PassedOver {
  readonly after: WaitingPlace | undefined;
  readonly inFlight: number;
}

/**
 * The position of one agent in the queue of one target. A handoff that the agent was considered for
 * and can't take is not considered again until something changes: the owner of the queue calls `note`
 * or `restart`. The queue itself notices that the agent has room for a capability again.
 */
export class WaitingQueue {
  /** Undefined for work that waits for an agent by name. */
  readonly capability: string | undefined;
  readonly #target: string;
  readonly #read: ReadPage;
  /** How many are read at a time. */
  limit = 1;
  /** Handoffs that arrived before the current position, in their order. */
  #early: QueuedHandoff[] = [];
  #page: readonly StoredHandoff[] = [];
  #next = 0;
  /** The last one that it has advanced past. */
  #at: WaitingPlace | undefined;
  /** Nothing waits after it and the rest of the page. */
  #isEnd = false;
  #isReading = false;
  /** Something that it has advanced past still waits. */
  #hasLeft = false;
  readonly #passed = new Map<string, PassedOver>();
  /** Its position when it went back to passed-over work, and for which capabilities. */
  #reached: { readonly at: WaitingPlace | undefined; isEnd: boolean } | undefined;
  readonly #sought = new Set<string>();
  /** How often it was restarted. */
  #starts = 0;

  constructor(target: string, read: ReadPage) {
    this.capability = target.startsWith(CAPABILITY) ? target.slice(CAPABILITY.length) : undefined;
    this.#target = target;
    this.#read = read;
  }

  /** The first handoff that it has not advanced past and that the agent has room for. */
  async head(room: Room): Promise<QueuedHandoff | undefined> {
    for (;;) {
      // All of it is for one capability, so it need not be read to be passed over.
      if (this.capability !== undefined && room.isFull(this.capability)) return undefined;
      this.#goBack(room);
      const head = await this.#first();
      if (head === undefined) {
        if (this.#reached === undefined) return undefined;
        this.#goOn(room);
      } else if (room.isFull(head.capability)) {
        this.advance(head);
        this.passOver(head, room.inFlight(head.capability));
      } else return head;
    }
  }

  /** Advances past its head. */
  advance(head: QueuedHandoff): void {
    const index = this.#early.indexOf(head);
    if (index >= 0) this.#early.splice(index, 1);
    // If the queue was restarted meanwhile, this one comes again.
    else if (this.#page[this.#next]?.id === head.id) {
      this.#at = { waitsAt: head.waitsAt, id: head.id };
      this.#next++;
    }
  }

  /** The agent was considered for this, and can't take it. */
  leave(): void {
    this.#hasLeft = true;
  }

  /** The agent had no room for it at the time: it is considered again in any case. */
  putBack(waiting: QueuedHandoff): void {
    this.#hasLeft = true;
    this.#addEarly(waiting);
  }

  /** The agent has no room for its capability now: it is considered again when it has. */
  passOver({ capability, waitsAt }: QueuedHandoff, inFlight: number): void {
    this.#hasLeft = true;
    const before = this.#passed.get(capability);
    const after = { waitsAt, id: "" };
    const isFirst = before === undefined || isBefore(after, before.after);
    this.#passed.set(capability, {
      after: isFirst ? after : before.after,
      inFlight: Math.max(inFlight, before?.inFlight ?? 0),
    });
  }

  /** Something has begun to wait for this target, and reads show it. */
  note(stored: StoredHandoff): void {
    const isRead = [this.#page.at(-1) ?? this.#at, this.#reached?.at].some(
      (place) => place !== undefined && !isBefore(place, stored),
    );
    if (this.#isReading || isRead) this.#addEarly(this.#waitingOf(stored));
    if (isRead) return;
    this.#isEnd = false;
    if (this.#reached !== undefined) this.#reached.isEnd = false;
  }

  /** Its knowledge may be outdated. */
  restart(): void {
    this.#starts++;
    this.#early = [];
    this.#goTo(undefined, false);
    this.#hasLeft = false;
    this.#passed.clear();
    this.#reached = undefined;
    this.#sought.clear();
  }

  /** No more is requested at the moment, so what was read is dropped. */
  rest(): void {
    // If all of it is gone, the next pull starts at the front, and sees that the queue is empty.
    if (this.#isAtEnd && !this.#hasLeft) this.restart();
    else this.#goTo(this.#at, this.#isAtEnd);
  }

  get #isAtEnd(): boolean {
    return this.#isEnd && this.#next === this.#page.length;
  }

  #goTo(at: WaitingPlace | undefined, isEnd: boolean): void {
    this.#at = at;
    this.#isEnd = isEnd;
    this.#page = [];
    this.#next = 0;
  }

  #addEarly(waiting: QueuedHandoff): void {
    const index = this.#early.findIndex((each) => !isBefore(each, waiting));
    if (index < 0) this.#early.push(waiting);
    else if (this.#early[index]!.id !== waiting.id) this.#early.splice(index, 0, waiting);
    if (this.#early.length > EARLY_AT_MOST) this.restart();
  }

  /** Goes back to the first passed-over handoff that may be taken now. */
  #goBack(room: Room): void {
    for (const [capability, { after, inFlight }] of this.#passed) {
      if (room.inFlight(capability) >= inFlight || room.isFull(capability)) continue;
      this.#passed.delete(capability);
      this.#sought.add(capability);
      this.#reached ??= { at: this.#at, isEnd: this.#isAtEnd };
      if (this.#at !== undefined && isBefore(after, this.#at)) this.#goTo(after, false);
    }
    const isInVain = this.#reached !== undefined && [...this.#sought].every(room.isFull);
    if (isInVain) this.#goOn(room);
  }

  /**
   * Returns to the former position: for the work that it went back to, the agent has no more room, or
   * there is none.
   */
  #goOn(room: Room): void {
    const { at, isEnd } = this.#reached!;
    for (const capability of this.#sought) {
      if (!room.isFull(capability) || this.#at === undefined) continue;
      this.passOver({ ...this.#at, capability }, room.inFlight(capability));
    }
    this.#sought.clear();
    this.#reached = undefined;
    this.#goTo(at, isEnd);
  }

  async #first(): Promise<QueuedHandoff | undefined> {
    while (this.#next === this.#page.length && !this.#isEnd) await this.#readOn();
    const next = this.#page[this.#next];
    const [early] = this.#early;
    if (early !== undefined && (next === undefined || isBefore(early, next))) return early;
    // Beyond where it had come nothing was passed over.
    const isBeyond = this.#reached !== undefined && isBefore(this.#reached.at, next);
    return next === undefined || isBeyond ? undefined : this.#waitingOf(next);
  }

  async #readOn(): Promise<void> {
    const starts = this.#starts;
    this.#isReading = true;
    this.#isEnd = true;
    try {
      const { limit } = this;
      const page = await this.#read(this.#target, { after: this.#at, limit });
      if (this.#starts !== starts) return;
      this.#page = page;
      this.#next = 0;
      if (page.length === limit) this.#isEnd = false;
    } catch (error) {
      this.#isEnd = false;
      throw error;
    } finally {
      this.#isReading = false;
    }
  }

  #waitingOf(stored: StoredHandoff): QueuedHandoff {
    const { waitsAt, id } = stored;
    return { waitsAt, id, capability: this.capability ?? recordOf(stored).record.capability };
  }
}

/** The queue whose head is offered first of all. */
export async function firstOf(
  queues: readonly WaitingQueue[],
  room: Room,
): Promise<{ readonly queue: WaitingQueue; readonly waiting: QueuedHandoff } | undefined> {
  const heads = await Promise.all(
    queues.map(async (queue) => ({ queue, waiting: await queue.head(room) })),
  );
  let first: { queue: WaitingQueue; waiting: QueuedHandoff } | undefined;
  for (const { queue, waiting } of heads) {
    if (waiting === undefined) continue;
    if (first === undefined || isBefore(waiting, first.waiting)) first = { queue, waiting };
  }
  return first;
}

/** The front of a queue, before all that waits, is undefined. */
function isBefore(a: WaitingPlace | undefined, b: WaitingPlace | undefined): boolean {
  if (a === undefined || b === undefined) return a === undefined && b !== undefined;
  return a.waitsAt < b.waitsAt || (a.waitsAt === b.waitsAt && a.id < b.id);
}
