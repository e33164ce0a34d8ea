/** Sessions that can be taken out, and looked at from any place on, at the same cost however many they are. */
class Pool<Session> {
  readonly #sessions: Session[] = [];
  readonly #places = new Map<Session, number>();

  get size(): number {
    return this.#sessions.length;
  }

  has(session: Session): boolean {
    return this.#places.has(session);
  }

  add(session: Session): void {
    this.#places.set(session, this.#sessions.push(session) - 1);
  }

  delete(session: Session): void {
    const place = this.#places.get(session);
    if (place === undefined) return;
    this.#places.delete(session);
    const last = this.#sessions.pop()!;
    if (last === session) return;
    this.#sessions[place] = last;
    this.#places.set(last, place);
  }

  /** So many of them, each once, beginning with the one whose turn it is. */
  *from(turn: number, most: number): Generator<Session> {
    const { length } = this.#sessions;
    for (let count = 0; count < Math.min(most, length); count++) {
      yield this.#sessions[(turn + count) % length]!;
    }
  }
}

/** Of those that are looked at, this part is kept for agents that have not proven themselves yet. */
const UNPROVEN_PART = 1 / 4;

/** The attached agents that offer one capability, by whether they have room and have proven themselves. */
export class OfferingAgents<Session extends { readonly room: number }> {
  readonly #proven = new Pool<Session>();
  readonly #others = new Pool<Session>();
  readonly #busy = new Set<Session>();

  /** How many have room. */
  get size(): number {
    return this.#proven.size + this.#others.size;
  }

  get busy(): ReadonlySet<Session> {
    return this.#busy;
  }

  put(session: Session, isProven: boolean): void {
    const place = session.room === 0 ? this.#busy : isProven ? this.#proven : this.#others;
    if (place.has(session)) return;
    this.delete(session);
    place.add(session);
  }

  delete(session: Session): void {
    this.#proven.delete(session);
    this.#others.delete(session);
    this.#busy.delete(session);
  }

  /** So many of those with room: first those who have proven themselves, and in each part by turns. */
  *withRoom(turn: number, most: number): Generator<Session> {
    const kept = Math.min(this.#others.size, Math.floor(most * UNPROVEN_PART));
    const proven = Math.min(this.#proven.size, most - kept);
    yield* this.#proven.from(turn, proven);
    yield* this.#others.from(turn, most - proven);
  }
}
