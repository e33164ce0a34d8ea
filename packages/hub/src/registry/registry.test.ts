import {
  digestOf,
  digestOfJws,
  generateKey,
  provenKey,
  signCompact,
  signManifest,
} from "@waybill/protocol";
import type { Found, ManifestInput, PrivateKey } from "@waybill/protocol";
import { manifestPages } from "@waybill/protocol/wire";
import { describe, expect, test } from "vitest";
import { memoryStore } from "../memory-store.ts";
import { openHub } from "../open-hub.ts";
import type { Commit } from "../store.ts";
import { handClock } from "../routing/hand-clock-fixture.ts";
import type { HubServer } from "../open-hub.ts";
import { World } from "../world-fixture.ts";
import { countedStore } from "./counted-store-fixture.ts";

const AGENTS = 40;
const ROUNDS = 12;
const ENROLMENTS = 60;

function manifestOf(id: string, key: PrivateKey, members: Partial<ManifestInput> = {}): string {
  return signManifest({ agent_id: id, capabilities: [{ name: "work" }], ...members }, key);
}

/** Everything that a query finds, page by page. */
async function pagesOf(hub: HubServer, limit: number): Promise<Found[]> {
  const pages: Found[] = [];
  for (let after: string | undefined; ;) {
    const found = await hub.find({ capability: "work", after, limit });
    pages.push(found);
    if (found.next === undefined) return pages;
    after = found.next;
  }
}

test("registering an agent does not read the agents registered before it", async () => {
  const { store, calls, characters, reset } = countedStore(memoryStore());
  const hub = await openHub({ store, key: generateKey() });
  const costs: number[] = [];
  for (let index = 0; index < AGENTS; index++) {
    reset();
    await hub.publish(manifestOf(`agent-${index}`, generateKey()));
    costs.push(characters());
    expect(calls("manifests") + calls("agents") + calls("offers")).toBe(0);
  }
  expect(Math.max(...costs)).toBe(costs[0]);
  await hub.close();
});

test("registrations at another hub are seen here, while this one registers too", async () => {
  const store = memoryStore();
  const key = generateKey();
  const [here, there] = [await openHub({ store, key }), await openHub({ store, key })];
  const names: string[] = [];
  for (let index = 0; index < ROUNDS; index++) {
    names.push(`here-${index}`, `there-${index}`);
    await Promise.all([
      here.publish(manifestOf(`here-${index}`, generateKey())),
      there.publish(manifestOf(`there-${index}`, generateKey())),
    ]);
    for (const hub of [here, there]) {
      const { fits } = await hub.find({ capability: "work" });
      expect(fits.map(({ agent_id }) => agent_id).toSorted()).toEqual(names.toSorted());
    }
  }
  await here.close();
  await there.close();
});

test("WB-212 offers for others are not read by searches and lists, however many there are", async () => {
  const { store, reset, characters } = countedStore(memoryStore());
  const hub = await openHub({ store, key: generateKey() });
  const from = { agents: ["editor"], groups: Array.from({ length: 16 }, (_, at) => `group-${at}`) };
  const asker = { agent: "other", kid: "k" };
  const ask = async () => {
    reset();
    const { fits } = await hub.find({ capability: "work" }, asker);
    const names = await hub.operator.capabilityNames({ limit: 100 }, asker);
    return [fits.length, names, characters()];
  };
  await hub.publish(manifestOf("zoe", generateKey()));
  await hub.publish(
    manifestOf("a-first", generateKey(), { capabilities: [{ name: "work", from }] }),
  );
  // A capability that was read is cached.
  await ask();
  const before = await ask();
  for (let index = 0; index < ENROLMENTS; index++) {
    const capabilities = [
      { name: "work", from },
      { name: `hidden-${index}`, from },
    ];
    await hub.publish(manifestOf(`a-${index}`, generateKey(), { capabilities }));
  }
  expect(await ask()).toEqual(before);
  expect(before.slice(0, 2)).toEqual([1, [{ name: "work", agents: 1 }]]);
  await hub.close();
});

describe("45: a capability that many agents offer", () => {
  test("is found page by page, each agent once and with no more text than a page", async () => {
    const { store, reset, characters } = countedStore(memoryStore());
    const hub = await openHub({ store, key: generateKey() });
    const description = "x".repeat(8_000);
    for (let index = 0; index < 250; index++) {
      const capabilities = [{ name: "work", description }, { name: "other" }];
      await hub.publish(manifestOf(`agent-${index}`, generateKey(), { capabilities }));
    }
    reset();
    const first = await hub.find({ capability: "work" });
    expect(first.fits).toHaveLength(50);
    expect(characters()).toBeLessThan(600_000);
    const pages = await pagesOf(hub, 100);
    expect(pages.map(({ fits }) => fits.length)).toEqual([100, 100, 50]);
    const found = pages.flatMap(({ fits }) => fits.map(({ agent_id: agent }) => agent));
    expect(new Set(found).size).toBe(250);
    // A mebibyte of text ends a page too, which has at least one item.
    const long = Array.from({ length: 60 }, () => "y".repeat(8_000));
    const examples = long.slice(0, 32).map((text) => ({ description: text }));
    for (let index = 0; index < 12; index++) {
      const capabilities = [{ name: "work", examples }];
      await hub.publish(manifestOf(`long-${index}`, generateKey(), { capabilities }));
    }
    reset();
    const after = pages[2]!.fits
      .map(({ agent_id: agent }) => agent)
      .toSorted()
      .at(-1)!;
    const longOnes = await hub.find({ capability: "work", after: `work ${after} 1`, limit: 100 });
    expect(longOnes.fits).toHaveLength(4);
    expect(longOnes.next).toBe("work long-11 1");
    expect(characters()).toBeLessThan(1.2e6);
    await hub.close();
  });
});

describe("49: a key of another agent", () => {
  test.each([
    ["of one hub", 1],
    ["of two hubs over one store", 2],
  ])("of concurrent enrolments %s that list one key, exactly one succeeds", async (_, count) => {
    const store = memoryStore();
    const own = generateKey();
    const hubs = await Promise.all(
      Array.from({ length: count }, () => openHub({ store, key: own })),
    );
    const key = generateKey();
    const outcomes = await Promise.allSettled(
      Array.from({ length: ENROLMENTS }, (__, index) =>
        hubs[index % count]!.publish(manifestOf(`agent-${index}`, key)),
      ),
    );
    const enrolled = outcomes.flatMap(({ status }, index) =>
      status === "fulfilled" ? [`agent-${index}`] : [],
    );
    expect(enrolled).toHaveLength(1);
    for (const outcome of outcomes) {
      if (outcome.status === "fulfilled") continue;
      expect(outcome.reason).toMatchObject({ status: 409, at: "/keys/0" });
      expect(String(outcome.reason)).toContain(`which is a key of ${enrolled[0]}`);
    }
    for (const hub of hubs) await hub.close();
  });

  test("stays its owner's when it is retired, and after a restart", async () => {
    const store = memoryStore();
    const own = generateKey();
    const hub = await openHub({ store, key: own });
    const [first, second] = [generateKey(), generateKey()];
    const one = manifestOf("owner", first);
    await hub.publish(one);
    const next = { sequence: 2, previous: digestOfJws(one), keys: [provenKey("owner", second)] };
    await hub.publish(manifestOf("owner", first, next));
    const squat = hub.publish(manifestOf("squatter", first));
    await expect(squat).rejects.toMatchObject({ status: 409 });
    await hub.close();
    const again = await openHub({ store, key: own });
    const later = again.publish(manifestOf("squatter", first));
    await expect(later).rejects.toMatchObject({ status: 409, at: "/keys/0" });
    await again.close();
  });
});

test("WB-91 the first manifest of an agent has sequence 1", async () => {
  const hub = await openHub({ store: memoryStore(), key: generateKey() });
  const key = generateKey();
  const second = { sequence: 2, previous: digestOf("the first one") };
  const refused = { status: 409, at: "/sequence" };
  await expect(hub.publish(manifestOf("agent", key, second))).rejects.toMatchObject(refused);
  expect(await hub.manifests({ agent: "agent" })).toEqual({ manifests: [] });
  await hub.publish(manifestOf("agent", key));
  await hub.close();
});

test("44: the manifests of an agent are returned page by page, or only the newest", async () => {
  const { store, reset, characters } = countedStore(memoryStore());
  const hub = await openHub({ store, key: generateKey() });
  const key = generateKey();
  const texts: string[] = [];
  const examples = Array.from({ length: 32 }, () => ({ description: "z".repeat(8_000) }));
  for (let sequence = 1; sequence <= 8; sequence++) {
    const previous = texts.at(-1);
    const text = manifestOf("agent", key, {
      capabilities: [{ name: "work", examples }],
      ...(previous === undefined ? {} : { sequence, previous: digestOfJws(previous) }),
    });
    await hub.publish(text);
    texts.push(text);
  }
  reset();
  const page = await hub.manifests({ agent: "agent" });
  expect(page.manifests.map(({ text }) => text)).toEqual(texts.slice(0, 4));
  expect(page.next).toBe(4);
  expect(characters()).toBeLessThan(1.5e6);
  const all: string[] = [];
  for await (const { text } of manifestPages((query) => hub.manifests(query), "agent")) {
    all.push(text);
  }
  expect(all).toEqual(texts);
  const newest = await hub.manifests({ agent: "agent", newest: true });
  expect(newest).toEqual({ manifests: [{ text: texts.at(-1), at: expect.any(Number) as number }] });
  await hub.close();
});

test("43: an envelope by an unlisted key is refused unread", async () => {
  const { store, reset, calls } = countedStore(memoryStore());
  const hub = await openHub({ store, key: generateKey() });
  const stranger = generateKey();
  reset();
  for (const payload of ["no JSON at all", '{"from":"editor"}', "[".repeat(100_000)]) {
    await expect(hub.submit(signCompact(payload, stranger))).rejects.toMatchObject({ status: 401 });
  }
  expect(calls("key")).toBe(3);
  expect(calls("manifest") + calls("manifests")).toBe(0);
  await hub.close();
});

/** Schemas that take about a million steps to compile. */
function heavy(id: string): string {
  const members = Array.from({ length: 9 }, (_, index) => [
    `member-${index}`,
    { type: "string", pattern: "^(a|b){1,20}c*$" },
  ]);
  const schema = { type: "object", properties: Object.fromEntries(members) };
  const capabilities = Array.from({ length: 128 }, (_, index) => ({
    name: `heavy-${index}`,
    input_schema: schema,
    output_schema: schema,
  }));
  return manifestOf(id, generateKey(), { capabilities });
}

test("40: the schemas of a manifest are compiled in slices, and a small manifest does not wait for large ones", async () => {
  const clock = handClock();
  const hub = await openHub({ store: memoryStore(), key: generateKey(), clock });
  const published: string[] = [];
  const publish = async (id: string, manifest: string) => {
    await hub.publish(manifest);
    published.push(id);
  };
  const large = Array.from({ length: 3 }, (_, index) => heavy(`large-${index}`));
  const all = large.map((manifest, index) => publish(`large-${index}`, manifest));
  let pieces = 0;
  const rest = () => new Promise((resolve) => setImmediate(resolve));
  await rest();
  all.push(publish("small", manifestOf("small", generateKey())));
  while (published.length < all.length) {
    await rest();
    if (clock.next()) pieces++;
  }
  await Promise.all(all);
  expect(pieces).toBeGreaterThan(5);
  expect(published.indexOf("small")).toBeLessThan(2);
  await hub.close();
});

test("a manifest with a refused schema is not recorded, whatever else is right with it", async () => {
  const hub = await openHub({ store: memoryStore(), key: generateKey() });
  const key = generateKey();
  const capabilities = [{ name: "work", input_schema: { $ref: "https://example.com/x" } }];
  const payload = { waybill: 1, kind: "manifest", agent_id: "bad", capabilities, keys: [key.jwk] };
  await expect(hub.publish(signCompact(JSON.stringify(payload), key))).rejects.toMatchObject({
    status: 400,
    at: expect.stringMatching(/^\/capabilities\/0\/input_schema/) as string,
  });
  expect((await hub.manifests({ agent: "bad" })).manifests).toEqual([]);
  await hub.close();
});

test("a manifest whose commit is on disk is seen here, although the commit was reported as failed", async () => {
  let isFailing = false;
  const store = new Proxy(memoryStore(), {
    get(target, name) {
      // Nobody is told of the commit.
      if (name === "onCommit") return () => () => undefined;
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      if (name !== "commit") return value.bind(target) as unknown;
      return async (group: readonly Commit[]) => {
        const outcome = await target.commit(group);
        if (isFailing) throw new Error("The disk does not answer.");
        return outcome;
      };
    },
  });
  const world = await World.open({ store });
  const owner = await world.publish("owner");
  const key = generateKey();
  const first = manifestOf("worker", key);
  await world.hub.publish(first);
  const handOff = (capability: string) =>
    world.handOff(owner, { to: "worker", body: { capability } });
  await handOff("work");
  isFailing = true;
  const capabilities = [{ name: "other" }];
  const following = { capabilities, sequence: 2, previous: digestOfJws(first) };
  const publishing = world.hub.publish(manifestOf("worker", key, following));
  await expect(publishing).rejects.toThrow("The disk");
  isFailing = false;
  await handOff("other");
  await expect(handOff("work")).rejects.toMatchObject({ status: 404 });
  await world.hub.close();
});
