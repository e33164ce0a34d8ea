import { memoryStore } from "@waybill/hub";
import { digestOfJws, generateKey, newId, provenKey, signManifest } from "@waybill/protocol";
import type { ManifestInput, PrivateKey } from "@waybill/protocol";
import { signRequest } from "@waybill/protocol/wire";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ask, openWorld, Party, Wire } from "./served-fixture.ts";
import type { Answer, World } from "./served-fixture.ts";

let world: World;
let now: number;

beforeEach(async () => {
  now = Date.now();
  // A hub with a settable clock: keys expire in a moment.
  const clock = {
    now: () => now,
    setTimer(at: number, callback: () => void) {
      const timer = setTimeout(callback, Math.max(0, at - now));
      return () => clearTimeout(timer);
    },
  };
  world = await openWorld({ hub: { clock } });
});

afterEach(() => world.close());

const HOUR = 3_600_000;

function time(at: number): string {
  return new Date(at).toISOString();
}

/** Publishes the next manifest of an agent, over the wire. */
async function publish(
  id: string,
  keys: NonNullable<ManifestInput["keys"]>,
  signer: PrivateKey,
): Promise<Answer> {
  const known = (await ask(`${world.url}/.well-known/waybill/agents/${id}`)).json["manifests"];
  const all = known as { manifest: string }[];
  const follows =
    all.length === 0
      ? {}
      : { sequence: all.length + 1, previous: digestOfJws(all.at(-1)!.manifest) };
  const manifest = signManifest(
    { agent_id: id, capabilities: [{ name: "work" }], keys, ...follows },
    signer,
  );
  return ask(`${world.url}/v1/agents/${id}`, { method: "PUT", body: { manifest } });
}

/** A request signed with this key, at the hub's time. */
function request(id: string, key: PrivateKey): Promise<Answer> {
  const path = "/v1/dead-letters";
  const { id: to, domain } = world.hub;
  const claim = { from: id, to, domain, id: newId(now), at: now, method: "GET", path };
  const authorization = signRequest(claim, key);
  return ask(world.url + path, { headers: { authorization } });
}

async function found(): Promise<{ fits: string[]; reasons: string[] }> {
  const { json } = await ask(`${world.url}/v1/capabilities?capability=work`);
  const { fits, left_out } = json as unknown as {
    fits: { agent_id: string }[];
    left_out: { reasons: string[] }[];
  };
  return {
    fits: fits.map(({ agent_id }) => agent_id),
    reasons: left_out.flatMap(({ reasons }) => reasons),
  };
}

test("an expired key proves nothing, and its agent is not found until it renews", async () => {
  const key = generateKey();
  const until = (at: number) => [{ ...key.jwk, not_after: time(at) }];
  expect((await publish("worker", until(now + HOUR), key)).status).toBe(200);
  expect((await request("worker", key)).status).toBe(200);
  expect(await found()).toEqual({ fits: ["worker"], reasons: [] });

  // Renewed in time, it continues.
  expect((await publish("worker", until(now + 3 * HOUR), key)).status).toBe(200);
  now += 2 * HOUR;
  expect((await request("worker", key)).status).toBe(200);
  expect((await found()).fits).toEqual(["worker"]);

  now += 2 * HOUR;
  expect(await request("worker", key)).toMatchObject({
    status: 401,
    json: { waybill_status: 401 },
  });
  const { fits, reasons } = await found();
  expect(fits).toEqual([]);
  expect(reasons.join()).toContain("no key of worker is valid now");
  // Too late: an expired key can't renew itself either.
  expect((await publish("worker", until(now + HOUR), key)).status).toBe(401);
});

test("an agent rotates its key over the wire: the old one is refused from then on", async () => {
  const [old, young, stranger] = [generateKey(), generateKey(), generateKey()];
  await publish("owner", [old.jwk], old);
  await world.party("worker", [{ name: "work" }]);
  const before = new Party("owner", old, world.url, world.hub);
  const handed = before.handoff("worker");
  expect((await before.submit(handed.text)).status).toBe(200);

  expect((await publish("owner", [stranger.jwk], stranger)).status).toBe(401);
  expect((await publish("owner", [young.jwk], young)).status).toBe(401);
  expect((await publish("owner", [provenKey("owner", young)], old)).status).toBe(200);
  const after = new Party("owner", young, world.url, world.hub);
  expect((await request("owner", old)).status).toBe(401);
  expect((await request("owner", young)).status).toBe(200);
  expect((await before.submit(before.handoff("worker").text)).status).toBe(401);
  const next = after.handoff("worker");
  expect((await after.submit(next.text)).status).toBe(200);

  // A hello of the old key opens no socket; one of the new key does.
  const wire = await Wire.open(world.url);
  const { nonce } = await wire.next("challenge");
  wire.say({ type: "hello", proof: before.hello(nonce), credit: 1 });
  expect((await wire.next("closed")).problem).toMatchObject({ waybill_status: 401 });
  await (await after.attach()).close();
  // The old key's earlier signatures stay valid.
  const path = `/v1/handoffs/${handed.envelope.handoff_id}`;
  expect((await after.ask(path)).json).toMatchObject({ envelope: handed.text });
});

test("presence reports who is connected, its room, and when it was last seen", async () => {
  const worker = await world.party("worker", [{ name: "work", description: "Works." }]);
  const presence = async () => (await ask(`${world.url}/v1/agents/worker`)).json;
  expect(await presence()).toMatchObject({ is_connected: false, last_seen: null, credit: 0 });
  const wire = await worker.attach(3);
  const owner = await world.party("owner");
  await owner.submit(owner.handoff("worker").text);
  await wire.delivery("offer");
  expect(await presence()).toMatchObject({
    is_connected: true,
    last_seen: time(now),
    credit: 2,
    in_flight: 1,
    capabilities: [{ name: "work", description: "Works." }],
  });
  const left = new Promise<void>((resolve) => {
    const stop = world.hub.operator.watch(({ event }) => {
      if (event !== "detached") return;
      stop();
      resolve();
    });
  });
  const seenAt = now;
  await wire.close();
  await left;
  now += HOUR;
  expect(await presence()).toMatchObject({
    is_connected: false,
    last_seen: time(seenAt),
    credit: 0,
    in_flight: 0,
  });
  const { json } = await ask(`${world.url}/v1/agents`);
  const ids = (json["agents"] as { agent_id: string }[]).map(({ agent_id }) => agent_id);
  expect(ids).toEqual(["hub", "owner", "worker"]);
});

test("the time when an agent was last seen survives a restart, and is known at every hub of a store", async () => {
  const store = memoryStore();
  const key = generateKey();
  const worlds: World[] = [];
  const opened = async () => {
    const opening = await openWorld({ hub: { store, key } });
    worlds.push(opening);
    return opening;
  };
  const seen = async ({ url }: World) => (await ask(`${url}/v1/agents/worker`)).json["last_seen"];
  const first = await opened();
  const worker = await first.party("worker");
  const wire = await worker.attach();
  expect(await seen(first)).not.toBeNull();
  await first.close();
  await wire.closed;

  const second = await opened();
  const third = await opened();
  const before = await seen(second);
  expect(Date.parse(before as string)).toBeGreaterThan(0);
  expect(await seen(third)).toBe(before);
  for (const each of worlds.slice(1)) await each.close();
});
