import { memoryStore, openHub } from "@waybill/hub";
import { generateKey, signManifest } from "@waybill/protocol";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { CountedStore } from "./store-fixture.ts";
import { ask, openWorld } from "./served-fixture.ts";
import type { World } from "./served-fixture.ts";

const HOSTILE = 25;
const NAMES = 256;
const DESCRIPTION = "d".repeat(2_700);
const MEBIBYTE = 1024 * 1024;

const name = (index: number) => `name-${String(index).padStart(3, "0")}`;

let counted: CountedStore;
let world: World;

/** Agents that all offer the same names, in manifests of 0.7 MB. */
beforeAll(async () => {
  counted = new CountedStore(memoryStore());
  const key = generateKey();
  const hub = await openHub({ store: counted.store, key });
  const capabilities = Array.from({ length: NAMES }, (_, index) => ({
    name: name(index),
    description: DESCRIPTION,
  }));
  for (let agent = 0; agent < HOSTILE; agent++) {
    await hub.publish(signManifest({ agent_id: `hostile-${agent}`, capabilities }, generateKey()));
  }
  await hub.close();
  // As after a restart, with empty caches.
  world = await openWorld({ hub: { store: counted.store, key, id: hub.id } });
});
beforeEach(() => counted.reset());
afterAll(() => world.close());

const loaded = () => counted.calls("manifest") + counted.calls("manifests");

describe("39: a registry that strangers have filled", () => {
  test("does not enlarge a list of capabilities, which reads no manifest", async () => {
    const { status, json, text } = await ask(`${world.url}/v1/capabilities`);
    expect(status).toBe(200);
    expect(json["capabilities"]).toHaveLength(100);
    expect(json["capabilities"]).toContainEqual({ name: name(7), agents: HOSTILE });
    expect(text.length).toBeLessThan(8_000);
    expect(counted.characters).toBeLessThan(8_000);
    expect(counted.calls("offers") + counted.calls("capability") + loaded()).toBe(0);
    const names: string[] = [];
    for (let after: string | undefined; ;) {
      const query = after === undefined ? "" : `&after=${encodeURIComponent(after)}`;
      const page = (await ask(`${world.url}/v1/capabilities?limit=90${query}`)).json as unknown as {
        capabilities: { name: string }[];
        next?: string;
      };
      names.push(...page.capabilities.map((each) => each.name));
      if (page.next === undefined) break;
      after = page.next;
    }
    expect(names).toEqual(Array.from({ length: NAMES }, (_, index) => name(index)));
  });

  test("does not enlarge a search beyond its page", async () => {
    const one = await ask(`${world.url}/v1/capabilities?capability=${name(1)}`);
    expect(one.json["fits"]).toHaveLength(HOSTILE);
    expect(counted.characters).toBeLessThan(HOSTILE * 2 * DESCRIPTION.length);
    counted.reset();
    const all = await ask(`${world.url}/v1/capabilities/find`, { body: { words: "name" } });
    expect(all.json["fits"]).toHaveLength(50);
    expect(all.json["next"]).toBeTypeOf("string");
    counted.reset();
    const most = await ask(`${world.url}/v1/capabilities/find`, { body: { limit: 100 } });
    expect(most.text.length).toBeLessThan(1.2 * MEBIBYTE);
    expect(counted.characters).toBeLessThan(1.2 * MEBIBYTE);
    expect(loaded()).toBe(0);
    const beyond = await ask(`${world.url}/v1/capabilities/find`, { body: { limit: 101 } });
    expect(beyond.status).toBe(400);
    const astray = await ask(`${world.url}/v1/capabilities?capability=a&after=nowhere`);
    expect(astray).toMatchObject({ status: 400, json: { at: "/after" } });
  });

  test("does not enlarge the list of agents beyond a few names of each", async () => {
    const { json, text } = await ask(`${world.url}/v1/agents`);
    const agents = json["agents"] as { capabilities: unknown[]; capability_count: number }[];
    expect(agents.length).toBeGreaterThan(HOSTILE);
    expect(agents[0]!.capabilities).toHaveLength(20);
    expect(agents[0]!.capability_count).toBe(NAMES);
    expect(text.length).toBeLessThan(100_000);
    expect(counted.characters).toBeLessThan(400_000);
    expect(loaded()).toBe(0);
  });

  test("costs a handoff to a capability only a page of rows", async () => {
    const owner = await world.party("owner");
    counted.reset();
    const capability = name(3);
    const handoff = owner.handoff("", { to: { capability }, body: { capability } });
    expect((await owner.submit(handoff.text)).status).toBe(200);
    expect(counted.calls("capability") + loaded()).toBe(0);
    expect(counted.characters).toBeLessThan(50_000);
  });
});

test("44: the history of an agent is paged, whatever it has published", async () => {
  const path = `${world.url}/.well-known/waybill/agents/hostile-3`;
  const { json, text } = await ask(path);
  expect(json["manifests"]).toHaveLength(1);
  expect(text.length).toBeLessThan(1.2 * MEBIBYTE);
  expect((await ask(`${path}?after=1`)).json).toEqual({ manifests: [] });
  expect((await ask(`${path}?newest=true`)).text).toBe(text);
});
