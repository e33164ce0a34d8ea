import { WaybillError } from "@waybill/protocol";
import { expect, test } from "vitest";
import { memoryStore } from "../memory-store.ts";
import type { Store } from "../store.ts";
import { all, blobArtifact, BlobWorld, digestOfAll, pieces, someBytes } from "./blobs-fixture.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const FILM = someBytes(3_000);
const DIGEST = digestOfAll(FILM);
const ROUNDS = Number(process.env["WAYBILL_CASES"] ?? 80);
/** How many orders of steps are tried. */
const SWITCH_EACH = 5;
/** How many steps one side may be ahead. */
const HEAD_STARTS = 6;
const FIRST_SEED = Number(process.env["WAYBILL_SEED"] ?? 1);

/** A store whose calls are interleaved in an order that the seed determines. */
class Shuffled {
  readonly store: Store;
  isOn = false;
  readonly #waiting: (() => void)[] = [];
  #state: number;
  #isPumping = false;
  #isLatest = false;

  constructor(seed: number) {
    this.#state = seed;
    const store = memoryStore();
    const shuffled: ReadonlySet<PropertyKey> = new Set([
      "commit",
      "setting",
      "settings",
      "handoff",
    ]);
    this.store = new Proxy(store, {
      get: (target, name: keyof Store) => {
        const member = target[name] as ((...given: unknown[]) => unknown) | undefined;
        if (typeof member !== "function") return member;
        if (!shuffled.has(name)) return member.bind(target);
        return async (...given: unknown[]) => {
          await this.#turn();
          const result = await member.apply(target, given);
          await this.#turn();
          return result;
        };
      },
    });
  }

  #turn(): Promise<void> | undefined {
    if (!this.isOn) return undefined;
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      if (this.#isPumping) return;
      this.#isPumping = true;
      setImmediate(() => this.#pump());
    });
  }

  /** Runs one side for a while, and then the other, so that each gets between two steps of the other. */
  #pump(): void {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0;
    if ((this.#state >>> 8) % SWITCH_EACH === 0) this.#isLatest = !this.#isLatest;
    const next = this.#isLatest ? this.#waiting.pop() : this.#waiting.shift();
    next!();
    setImmediate(() => {
      if (this.#waiting.length > 0) this.#pump();
      else this.#isPumping = false;
    });
  }
}

/** What runs while a blob is due for removal, and for whom the blob must exist if it succeeds. */
interface Scene {
  /** Advances to a millisecond before something of the blob is due. */
  prepare(world: BlobWorld): Promise<void>;
  during(world: BlobWorld): Promise<unknown>;
  readonly reader: string;
}

const LIMITS = { blobKeptMs: DAY_MS };
const submit = (world: BlobWorld, from: string) =>
  world.hub.submit(world.handoff(from, "worker", [blobArtifact(FILM)], { timeoutMs: 30 * DAY_MS }));

const SCENES: Readonly<Record<string, Scene>> = {
  "an upload that is due, and its first handoff": {
    async prepare(world) {
      await world.upload("owner", FILM);
      world.clock.advance(DAY_MS - 1);
    },
    during: (world) => submit(world, "owner"),
    reader: "owner",
  },
  "the last hold on a blob that is due, and another handoff by the same right": {
    async prepare(world) {
      await world.upload("owner", FILM);
      await world.hub.submit(
        world.handoff("owner", "worker", [blobArtifact(FILM)], { timeoutMs: 1_000 }),
      );
      world.clock.advance(1_000);
      await world.restart();
      world.clock.advance(DAY_MS - 1);
    },
    during: (world) => submit(world, "owner"),
    reader: "owner",
  },
  "an upload that is due, and an upload of the same bytes by another agent": {
    async prepare(world) {
      await world.upload("owner", FILM);
      const part = { digest: DIGEST, size: FILM.length, as: "other" };
      world.clock.advance(DAY_MS - 1);
      await world.blobs.put(part, pieces(FILM.subarray(0, 2_000)));
    },
    during: (world) =>
      world.blobs.put(
        { digest: DIGEST, size: FILM.length, as: "other", from: 2_000 },
        pieces(FILM.subarray(2_000)),
      ),
    reader: "other",
  },
};

test.each(Object.entries(SCENES))("%s: whatever is confirmed exists", async (_name, scene) => {
  const outcomes = new Set<string>();
  for (let seed = FIRST_SEED; seed < FIRST_SEED + ROUNDS; seed++) {
    const shuffled = new Shuffled(seed);
    const world = await BlobWorld.open({ store: shuffled.store, limits: LIMITS });
    for (const agent of ["owner", "other"]) await world.agent(agent);
    await world.agent("worker", ["work"]);
    await scene.prepare(world);
    shuffled.isOn = true;
    const during = () =>
      scene.during(world).then(
        () => 200,
        (error: unknown) => WaybillError.from(error).status,
      );
    const isAhead = seed % 2 === 0;
    const early = isAhead ? during() : undefined;
    if (!isAhead) world.clock.advance(1);
    for (let turns = seed % HEAD_STARTS; turns > 0; turns--) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    if (isAhead) world.clock.advance(1);
    const status = await (early ?? during());
    await world.hub.close();
    shuffled.isOn = false;
    await world.start();
    const label = `With WAYBILL_SEED=${seed}`;
    if (status === 200) {
      const { bytes } = await world.blobs.read({ digest: DIGEST, as: scene.reader });
      expect(await all(bytes), label).toEqual(FILM);
    } else {
      expect(status, label).toBe(403);
    }
    // No file without a row is left, and no row without a file.
    const files = await world.files();
    const blobs = await world.store.settings("blob ", { limit: 10 });
    expect(
      blobs.map(({ value }) => (JSON.parse(value) as { file: string }).file),
      label,
    ).toEqual(files);
    outcomes.add(`${status} ${files.length}`);
    await world.hub.close();
  }
  // Both sides must have won sometimes, or this shows nothing.
  expect(outcomes.size, [...outcomes].join()).toBeGreaterThan(scene.reader === "other" ? 0 : 1);
});
