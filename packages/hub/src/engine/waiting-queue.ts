import type { Page, StoredHandoff, WaitingPlace } from "../store.ts";

const CAPABILITY = "capability:";

export type ReadPage = (
  target: string,
  page: Page<WaitingPlace>,
) => Promise<readonly StoredHandoff[]>;

/** What waits for one target, in its order, read page by page. */
export class WaitingQueue {
  /** Left out for what waits for an agent by its name. */
  readonly capability: string | undefined;
  readonly #target: string;
  readonly #read: ReadPage;
  readonly #limit: number;
  #page: readonly StoredHandoff[] = [];
  #next = 0;
  #last: StoredHandoff | undefined;
  #isEnd = false;

  constructor(target: string, limit: number, read: ReadPage) {
    this.capability = target.startsWith(CAPABILITY) ? target.slice(CAPABILITY.length) : undefined;
    this.#target = target;
    this.#limit = limit;
    this.#read = read;
  }

  /** The first that was not taken out yet. */
  async head(): Promise<StoredHandoff | undefined> {
    if (this.#next === this.#page.length && !this.#isEnd) {
      this.#page = await this.#read(this.#target, { after: this.#last, limit: this.#limit });
      this.#next = 0;
      this.#isEnd = this.#page.length < this.#limit;
      this.#last = this.#page.at(-1);
    }
    return this.#page[this.#next];
  }

  takeOut(): void {
    this.#next++;
  }
}

/** The queue whose head is offered first of all. */
export async function firstOf(
  queues: readonly WaitingQueue[],
): Promise<{ readonly queue: WaitingQueue; readonly stored: StoredHandoff } | undefined> {
  const heads = await Promise.all(
    queues.map(async (queue) => ({ queue, stored: await queue.head() })),
  );
  let first: { queue: WaitingQueue; stored: StoredHandoff } | undefined;
  for (const { queue, stored } of heads) {
    if (stored === undefined) continue;
    if (first === undefined || isBefore(stored, first.stored)) first = { queue, stored };
  }
  return first;
}

function isBefore(a: WaitingPlace, b: WaitingPlace): boolean {
  return a.waitsAt < b.waitsAt || (a.waitsAt === b.waitsAt && a.id < b.id);
}
