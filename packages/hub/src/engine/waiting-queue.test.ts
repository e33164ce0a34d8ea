import fc from "fast-check";
import { expect, test } from "vitest";
import type { StoredHandoff } from "../store.ts";
import { firstOf, WaitingQueue } from "./waiting-queue.ts";
import type { Room } from "./waiting-queue.ts";

const LIMITS = { one: 1, two: 2, many: Infinity } as const;
type Name = keyof typeof LIMITS;
const NAMES = Object.keys(LIMITS) as Name[];

const WHENS = ["before", "after", "look"] as const;
type When = (typeof WHENS)[number];

/** Handoffs that wait for one agent by its name, and how many of each capability it works on. */
class Bench {
  waiting: StoredHandoff[] = [];
  readonly held: Record<Name, number> = { one: 0, two: 0, many: 0 };
  credit = 0;
  reads = 0;
  /** What the agent can't take, even with room. */
  readonly unfit = new Set<string>();
  /** Arrives while the next page is read, before or after the store's read, or during the next pull. */
  meanwhile: { readonly run: () => void; readonly when: When } | undefined;
  #count = 0;
  readonly queue: WaitingQueue = new WaitingQueue("agent:worker", async (_, { after, limit }) => {
    this.reads++;
    this.#runMeanwhile("before");
    const page = this.waiting.filter((each) => after === undefined || isBefore(after, each));
    this.#runMeanwhile("after");
    return page.toSorted((a, b) => (isBefore(a, b) ? -1 : 1)).slice(0, limit);
  });
  readonly room: Room = {
    isFull: (name) => this.held[name as Name] >= LIMITS[name as Name],
    inFlight: (name) => this.held[name as Name],
  };

  constructor() {
    this.queue.limit = 4;
  }

  #runMeanwhile(when: When): void {
    const { meanwhile } = this;
    if (meanwhile?.when !== when) return;
    this.meanwhile = undefined;
    meanwhile.run();
  }

  add(capability: Name, waitsAt: number, isUnfit: boolean): void {
    const id = `handoff-${String(this.#count++).padStart(6, "0")}`;
    const record = JSON.stringify({ capability });
    const stored = { id, waitsAt, record, waitsFor: "agent:worker" } as unknown as StoredHandoff;
    if (isUnfit) this.unfit.add(id);
    this.waiting.push(stored);
    this.queue.note(stored);
  }

  /** As in the hub: offers while there is room. Returns what was offered. */
  async pull(): Promise<string[]> {
    const offered: string[] = [];
    while (this.credit > 0) {
      const first = await firstOf([this.queue], this.room);
      if (first === undefined) break;
      const { waiting, queue } = first;
      queue.advance(waiting);
      this.#runMeanwhile("look");
      const name = waiting.capability as Name;
      const isThere = this.waiting.some(({ id }) => id === waiting.id);
      if (this.unfit.has(waiting.id)) queue.leave();
      else if (isThere) {
        this.waiting = this.waiting.filter(({ id }) => id !== waiting.id);
        this.held[name]++;
        this.credit--;
        offered.push(waiting.id);
      }
    }
    this.queue.rest();
    return offered;
  }

  /** Handoffs that wait although the agent has room for them. */
  get forgotten(): StoredHandoff[] {
    if (this.credit === 0) return [];
    return this.waiting.filter(({ id, record }) => {
      const { capability } = JSON.parse(record) as { capability: Name };
      return !this.unfit.has(id) && !this.room.isFull(capability);
    });
  }
}

function isBefore(a: { waitsAt: number; id: string }, b: { waitsAt: number; id: string }): boolean {
  return a.waitsAt < b.waitsAt || (a.waitsAt === b.waitsAt && a.id < b.id);
}

const arrival = fc.record({
  name: fc.constantFrom(...NAMES),
  waitsAt: fc.nat(20),
  isUnfit: fc.boolean(),
});
const move = fc.oneof(
  fc.record({ type: fc.constant("arrive" as const), arrival }),
  fc.record({ type: fc.constant("meanwhile" as const), arrival, when: fc.constantFrom(...WHENS) }),
  fc.record({ type: fc.constant("finish" as const), name: fc.constantFrom(...NAMES) }),
  fc.record({ type: fc.constant("credit" as const), credit: fc.nat(6) }),
  fc.record({ type: fc.constant("leave" as const), index: fc.nat(10) }),
);

test("no handoff waits while the agent has room for it, in whatever order work arrives and places become free", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(move, { maxLength: 80, size: "max" }), async (moves) => {
      const bench = new Bench();
      for (const each of moves) {
        if (each.type === "arrive" || each.type === "meanwhile") {
          const { name, waitsAt, isUnfit } = each.arrival;
          const run = () => bench.add(name, waitsAt, isUnfit);
          if (each.type === "arrive") run();
          else bench.meanwhile = { run, when: each.when };
        } else if (each.type === "finish") {
          if (bench.held[each.name] === 0) continue;
          bench.held[each.name]--;
          bench.credit++;
        } else if (each.type === "credit") bench.credit = each.credit;
        else bench.waiting.splice(each.index, 1);
        await bench.pull();
        // What arrived while the last page was read triggers another request for the agent.
        if (bench.forgotten.length > 0 && each.type === "meanwhile") await bench.pull();
        expect(bench.forgotten).toEqual([]);
      }
    }),
    { numRuns: 1_000 },
  );
});

test("places freed in turn are filled in the order in which work waits for them", async () => {
  const bench = new Bench();
  for (let at = 0; at < 60; at++) bench.add(at % 3 === 0 ? "one" : "two", at, false);
  bench.credit = 100;
  const offered = await bench.pull();
  for (let turn = 0; turn < 120; turn++) {
    const name = turn % 2 === 0 ? "one" : "two";
    if (bench.held[name] === 0) continue;
    bench.held[name]--;
    bench.credit++;
    offered.push(...(await bench.pull()));
  }
  const numbers = offered.map((id) => Number(id.slice("handoff-".length)));
  const ones = numbers.filter((number) => number % 3 === 0);
  const twos = numbers.filter((number) => number % 3 !== 0);
  expect(ones).toEqual(ones.toSorted((a, b) => a - b));
  expect(twos).toEqual(twos.toSorted((a, b) => a - b));
  expect(numbers).toHaveLength(60);
});

test("39: more early work than can be remembered is considered from the front, and none is forgotten", async () => {
  const bench = new Bench();
  bench.add("many", 1_000_000, true);
  bench.credit = 1;
  await bench.pull();
  bench.credit = 0;
  for (let at = 0; at < 3_000; at++) bench.add("many", at, at % 1_000 !== 0);
  bench.credit = 10;
  bench.reads = 0;
  expect(await bench.pull()).toHaveLength(3);
  expect(bench.reads).toBeGreaterThan(3_000 / 4);
  expect(bench.forgotten).toEqual([]);
  bench.reads = 0;
  await bench.pull();
  expect(bench.reads).toBe(0);
});
