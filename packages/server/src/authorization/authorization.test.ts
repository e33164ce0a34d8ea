/// <reference types="node" />
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { operations } from "../operations/operations.ts";
import { SOCKET_COSTS } from "../socket/costs.ts";
import { DOORS, isAgent, perform } from "./acts-fixture.ts";
import type { Door, Reply } from "./acts-fixture.ts";
import { Cast } from "./cast-fixture.ts";
import type { Scene } from "./cast-fixture.ts";
import { cells, PERMISSIONS, ROWS_OF_FRAMES, STAGES } from "./permissions-fixture.ts";
import type { Cell, Stage } from "./permissions-fixture.ts";
import { permissionsPage } from "./page-fixture.ts";

/** How often every cell is tried, each time in another order. */
const ROUNDS = Number(process.env["WAYBILL_CASES"] ?? 1);

const SEED = process.env["WAYBILL_SEED"];

const all = cells();
const STATUS = { late: 410, taken: 403 } as const;

let cast: Cast;
beforeAll(async () => {
  cast = await Cast.open();
});
afterAll(() => cast.close());

/** Scenes for actions: a refused action leaves its scene unchanged for the next one. */
class Scenes {
  readonly #of = new Map<Stage, Scene[]>();

  async at(stage: Stage, chance: number): Promise<Scene> {
    const known = this.#of.get(stage) ?? [];
    // Occasionally a new one, so that there are several to choose from.
    if (known.length > 0 && chance % 16 !== 0) return known[chance % known.length]!;
    const scene = await cast.sceneAt(stage);
    this.#of.set(stage, [...known, scene]);
    return scene;
  }

  drop(scene: Scene): void {
    const known = this.#of.get(scene.stage) ?? [];
    this.#of.set(
      scene.stage,
      known.filter((each) => each !== scene),
    );
  }
}

/** Everything known about a scene, read through the store and not through the tested API. */
async function glimpse({ handoff, parentHandoff, childHandoff, peerHandoff }: Scene) {
  const { store } = cast.world;
  const handoffs = [handoff, parentHandoff, peerHandoff, ...(childHandoff ? [childHandoff] : [])];
  const ids = handoffs.map(({ envelope }) => envelope.handoff_id);
  return {
    records: await Promise.all(ids.map((id) => store.handoff(id))),
    entries: await Promise.all(ids.map((id) => store.ledgerOf(id, { limit: 100 }))),
    manifests: await Promise.all(
      Object.values(cast.parties).map(async ({ id }) => (await store.manifest(id))?.sequence),
    ),
    allowed: await store.setting("allowed newcomer"),
    pinned: await store.setting(`pin ${cast.idle}`),
    groups: await cast.hub.operator.groups({ limit: 10 }),
    kept: await cast.invitation(false).then(({ id }) => store.setting(`invitation ${id}`)),
    idle: (await store.manifest(cast.idle))?.facts,
    keys: await Promise.all(
      [cast.unknown, ...Object.values(cast.retired), ...Object.values(cast.recovery)].map(
        ({ kid }) => store.key(kid),
      ),
    ),
  };
}

/** New records of this scene or by this speaker. */
async function recordedSince(sequence: number, from: string | undefined, scene: Scene) {
  const entries = await cast.world.store.ledger({ after: sequence, limit: 100 });
  const { handoff_id: id } = scene.handoff.envelope;
  return entries.filter(
    ({ handoffId, replayKey }) => handoffId === id || (from && replayKey?.from === from),
  );
}

/** The answer for unknown ids and that for others' ids are the same. */
function plain(text: string, { handoff: { envelope, text: signed }, ...rest }: Scene): string {
  const names = [
    envelope.handoff_id,
    envelope.correlation_id,
    envelope.id,
    rest.groupId,
    rest.blob.digest,
    signed,
  ];
  return names.reduce((told, name) => told.replaceAll(name, "…"), text);
}

const NOT_HIDDEN: ReadonlySet<string> = new Set(["yes", "own", "late", "taken"]);

async function tryCell({ act, role, answered }: Cell, scene: Scene, door: Door): Promise<void> {
  const label = `${act} as ${role} when ${scene.stage}, by ${door}`;
  const before = await glimpse(scene);
  const head = await cast.world.store.ledgerHead();
  const reply = await perform(cast, act, role, scene, door);
  if (answered === "yes") {
    expect(reply, label).toMatchObject({ status: 200 });
    if (role !== "operator" && SHOWS.has(act)) expect(shows(reply, scene), label).toBe(true);
    return;
  }
  if (answered === "own") {
    expect(reply, label).toMatchObject({ status: 200 });
    if (SHOWS.has(act)) {
      expect(shows(reply, scene), label).toBe(false);
      expect(JSON.parse(reply.text), label).not.toHaveProperty("next");
    }
  } else {
    const status = typeof answered === "number" ? answered : STATUS[answered];
    // Its delegator may be told in other words that the id is taken.
    const isOwnId = answered === "taken" && role === "delegator";
    expect(reply, label).toMatchObject({ status: isOwnId ? 409 : status });
  }
  if (answered === "late") {
    const after = await glimpse(scene);
    const states = (records: typeof after.records) =>
      records.map((stored) => stored && (JSON.parse(stored.record) as { state: object }).state);
    expect(states(after.records), label).toEqual(states(before.records));
    return;
  }
  expect(await glimpse(scene), label).toEqual(before);
  if (answered !== "own") {
    const from = isAgent(role) ? cast.parties[role].id : undefined;
    expect(await recordedSince(head.sequence, from, scene), label).toEqual([]);
  }
  if (NOT_HIDDEN.has(String(answered))) return;
  const ghost = cast.ghostOf(scene);
  const ghostly = await perform(cast, act, role, ghost, door);
  expect({ ...ghostly, text: plain(ghostly.text, ghost) }, `${label}: without the handoff`).toEqual(
    { ...reply, text: plain(reply.text, scene) },
  );
}

/** Answers with a list or a view of handoffs. */
const SHOWS: ReadonlySet<string> = new Set(["listHandoffs", "listDeadLetters", "getHandoff"]);

function shows({ text }: Reply, { handoff }: Scene): boolean {
  const { handoff_id: id } = handoff.envelope;
  const {
    handoffs,
    dead_letters: letters,
    id: own,
  } = JSON.parse(text) as {
    handoffs?: { id: string }[];
    dead_letters?: { id: string }[];
    id?: string;
  };
  return [...(handoffs ?? []), ...(letters ?? []), { id: own }].some((each) => each.id === id);
}

test("every cell of the table holds, whatever was tried before", async () => {
  const tried = new Set<string>();
  // Each cell once in a stage in which some role may, and once in a random stage.
  const tries = all.flatMap((cell) => [
    { cell, isStray: false },
    ...(cell.answered === "yes" || cell.answered === "late" ? [] : [{ cell, isStray: true }]),
  ]);
  const size = tries.length;
  const property = fc.asyncProperty(
    fc.shuffledSubarray(tries, { minLength: size, maxLength: size }),
    fc.array(fc.nat(1_000), { minLength: size, maxLength: size }),
    async (deck, chances) => {
      const scenes = new Scenes();
      for (const [index, { cell, isStray }] of deck.entries()) {
        const chance = chances[index]!;
        const stages = isStray ? STAGES : cell.when;
        const scene = await scenes.at(stages[chance % stages.length]!, chance);
        await tryCell(cell, scene, DOORS[chance % DOORS.length]!);
        if (!isStray) tried.add(`${cell.act} ${cell.role}`);
        if (cell.answered === "yes") scenes.drop(scene);
      }
    },
  );
  const { failed, seed, errorInstance } = await fc.check(property, {
    numRuns: ROUNDS,
    ...(SEED !== undefined && { seed: Number(SEED) }),
    // A smaller case would need another world, and the cell that has failed says enough.
    endOnFailure: true,
  });
  if (failed) {
    const cause = errorInstance;
    throw new Error(`With WAYBILL_SEED=${seed}: ${String(cause)}`, { cause });
  }
  expect(all.filter(({ act, role }) => !tried.has(`${act} ${role}`))).toEqual([]);
});

test("the table has every operation of the API, and no other", () => {
  const ids = operations().map(({ id }) => id);
  expect(Object.keys(PERMISSIONS.Requests).toSorted()).toEqual(ids.toSorted());
});

test("the table has every frame and call of the socket, and no other", () => {
  expect(Object.keys(ROWS_OF_FRAMES).toSorted()).toEqual(Object.keys(SOCKET_COSTS).toSorted());
  const rows = Object.values(ROWS_OF_FRAMES).filter((row) => row !== "Envelopes");
  expect(rows.toSorted()).toEqual(Object.keys(PERMISSIONS.Frames).toSorted());
});

test("the page with the table is written from it", async () => {
  const page = new URL("../../AUTHORIZATION.md", import.meta.url);
  await expect(permissionsPage()).toMatchFileSnapshot(page.pathname);
});
