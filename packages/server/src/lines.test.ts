/// <reference types="node" />
import { memoryStore, openHub } from "@waybill/hub";
import { generateKey, signManifest } from "@waybill/protocol";
import { expect, test } from "vitest";
import { SlowCommits } from "./store-fixture.ts";
import { rawAsk } from "./hardening-fixture.ts";
import { ask, asOperator, openWorld, Party, Wire } from "./served-fixture.ts";
import type { Signed, World } from "./served-fixture.ts";
import { serveHub } from "./serve-hub.ts";

async function withWorld(
  work: (world: World, owner: Party, worker: Party) => Promise<void>,
  options?: Parameters<typeof openWorld>[0],
): Promise<void> {
  const world = await openWorld(options);
  try {
    const owner = await world.party("owner");
    await work(world, owner, await world.party("worker", [{ name: "work" }]));
  } finally {
    await world.close();
  }
}

interface Polled {
  cursor: string;
  deliveries: { type: string; handoff_id: string; attempt: number; is_accepted?: boolean }[];
}

async function polled(party: Party, query?: Record<string, string | number>): Promise<Polled> {
  const answer = await party.poll(query);
  expect(answer.status, answer.text).toBe(200);
  return answer.json as never;
}

const offerOf = ({ envelope }: Signed) => ({ type: "offer", handoff_id: envelope.handoff_id });

test("unconfirmed deliveries are repeated in the next poll, and confirmed ones are not", () =>
  withWorld(async (_world, owner, worker) => {
    const handoff = owner.handoff("worker");
    await owner.submit(handoff.text);
    const first = await polled(worker);
    expect(first.deliveries).toMatchObject([offerOf(handoff)]);
    const again = await polled(worker);
    expect(again.deliveries).toEqual(first.deliveries);
    const confirmed = await polled(worker, { cursor: again.cursor, wait_seconds: 0 });
    expect(confirmed.deliveries).toEqual([]);
    // An older cursor confirms no more than it named then.
    expect((await polled(worker, { cursor: first.cursor, wait_seconds: 0 })).deliveries).toEqual(
      [],
    );
  }));

test("an older cursor does not confirm what was fetched after it", () =>
  withWorld(async (_world, owner, worker) => {
    const [one, two] = [owner.handoff("worker"), owner.handoff("worker")];
    await owner.submit(one.text);
    const first = await polled(worker, { credit: 5 });
    await owner.submit(two.text);
    const second = await polled(worker, { cursor: first.cursor });
    expect(second.deliveries).toMatchObject([offerOf(two)]);
    const again = await polled(worker, { cursor: first.cursor });
    expect(again.deliveries).toMatchObject([offerOf(two)]);
  }));

test("a poll waits until there is something to deliver", () =>
  withWorld(async (world, owner, worker) => {
    const polling = polled(worker, { wait_seconds: 30 });
    const isThere = async (): Promise<void> => {
      if (world.hub.operator.instanceOf("worker") === undefined) {
        await new Promise((resolve) => setImmediate(resolve));
        return isThere();
      }
    };
    await isThere();
    const handoff = owner.handoff("worker");
    await owner.submit(handoff.text);
    expect((await polling).deliveries).toMatchObject([offerOf(handoff)]);
  }));

test("the same process continues its attempt over another kind of connection", () =>
  withWorld(async (world, owner, worker) => {
    const handoff = owner.handoff("worker");
    await owner.submit(handoff.text);
    await polled(worker);
    expect((await worker.submit(worker.accept(handoff))).status).toBe(200);

    const wire = await worker.attach();
    expect(await wire.delivery("offer")).toMatchObject({
      ...offerOf(handoff),
      attempt: 1,
      is_accepted: true,
    });
    const back = await polled(worker, { credit: 3 });
    expect(back.deliveries).toMatchObject([{ ...offerOf(handoff), is_accepted: true }]);
    expect((await wire.next("closed")).problem).toMatchObject({ waybill_status: 503 });
    await wire.closed;
    const third = await worker.attach();
    await third.delivery("offer");
    third.say({ type: "heartbeat", handoff_id: handoff.envelope.handoff_id, attempt: 1 });
    expect((await third.call("submit", { envelope: worker.result(handoff) }))["receipt"]).toEqual(
      expect.any(String),
    );
    const view = await world.hub.operator.handoff(handoff.envelope.handoff_id);
    expect(view).toMatchObject({ state: "completed", attempts: [{ number: 1 }] });
    await third.close();
  }));

test("another process replaces one that polls, which is told so and does not replace it in turn", () =>
  withWorld(async (_world, _owner, worker) => {
    await polled(worker, { wait_seconds: 0 });
    await polled(worker, { wait_seconds: 0, instance: "another" });
    const refused = await worker.poll({ wait_seconds: 0 });
    expect(refused.json).toMatchObject({ waybill_status: 409 });
    await polled(worker, { wait_seconds: 0, instance: "another" });
  }));

test("operators see who is connected, when it was last seen, its room and its attempts", () =>
  withWorld(async (world, owner, worker) => {
    const presence = async () => (await ask(`${world.url}/v1/agents/worker`)).json;
    expect(await presence()).toMatchObject({ is_connected: false, last_seen: null, credit: 0 });
    const wire = await worker.attach(5);
    await owner.submit(owner.handoff("worker").text);
    await wire.delivery("offer");
    expect(await presence()).toMatchObject({
      agent_id: "worker",
      is_connected: true,
      credit: 4,
      in_flight: 1,
      capabilities: [{ name: "work", version: "1" }],
      sequence: 1,
    });
    await wire.close();
    const isGone = async (): Promise<Record<string, unknown>> => {
      const now = await presence();
      return now["is_connected"] === false ? now : isGone();
    };
    expect(await isGone()).toMatchObject({ last_seen: expect.stringMatching(/Z$/), in_flight: 0 });
    const { agents } = (await ask(`${world.url}/v1/agents?limit=2`)).json as never as {
      agents: { agent_id: string; manifest?: string }[];
    };
    expect(agents.map(({ agent_id }) => agent_id)).toEqual(["hub", "owner"]);
    expect(agents[0]!.manifest).toBeUndefined();
  }));

test("a search by words covers everything offered, without admission", () =>
  withWorld(async (world) => {
    await world.party("linguist", [{ name: "translate", description: "from French" }]);
    await world.party("cook", [{ name: "soup", description: "French onions" }]);
    const found = (await ask(`${world.url}/v1/capabilities?words=translate+french`))
      .json as never as {
      fits: { agent_id: string }[];
    };
    expect(found.fits.map(({ agent_id }) => agent_id)).toEqual(["linguist", "cook", "worker"]);
    const named = await ask(`${world.url}/v1/capabilities?capability=soup&words=translate`);
    expect(named.json).toMatchObject({ fits: [{ agent_id: "cook" }] });
  }));

test("an operator watches the ledger from an entry on, as it grows", () =>
  withWorld(async (world, owner) => {
    const headers = asOperator(world.served, "/v1/watch?after=0");
    const response = await fetch(`${world.url}/v1/watch?after=0`, { headers });
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    const linesUntil = async (part: string): Promise<string[]> => {
      while (!text.includes(part)) text += (await reader.read()).value ?? "";
      return text.split("\n").filter((line) => line !== "");
    };
    const handoff = owner.handoff("worker");
    await owner.submit(handoff.text);
    const lines = await linesUntil(handoff.text);
    const entries = lines.map((line) => JSON.parse(line) as { sequence: number });
    expect(entries.map(({ sequence }) => sequence)).toEqual(entries.map((_, index) => index + 1));
    await reader.cancel();
  }));

test("a hub that shuts down answers requests under way, disconnects everybody, and loses nothing", async () => {
  const store = memoryStore();
  const key = generateKey();
  const slow = new SlowCommits(store);
  const hub = await openHub({ store: slow.store, key });
  const served = await serveHub({ hub, store: slow.store });
  const owner = new Party("owner", generateKey(), served.url, hub);
  const worker = new Party("worker", generateKey(), served.url, hub);
  await owner.publish();
  await worker.publish([{ name: "work" }]);
  const wire = await owner.attach(0);
  const polling = worker.poll({ wait_seconds: 60 });
  const headers = asOperator(served, "/v1/watch");
  const watching = fetch(`${served.url}/v1/watch`, { headers }).then((response) => response.text());

  const handoffs = Array.from({ length: 20 }, () => owner.handoff("worker"));
  slow.hold();
  const calls = handoffs.map(({ text }) => wire.call("submit", { envelope: text }));
  // Frames are processed in order, so all calls are under way once this is answered.
  wire.say({ type: "ping" });
  await wire.next("pong");
  const closing = served.close();
  slow.release();
  const ready = rawAsk(served.url, { path: "/readyz" });
  const answers = await Promise.allSettled(calls);
  expect((await wire.next("closed")).problem).toMatchObject({
    waybill_status: 503,
    retryable: true,
  });
  await wire.closed;
  expect((await polling).status).toBe(200);
  await watching;
  // Either it is told that the hub shuts down, or the connection is gone.
  expect((await ready.catch(() => ({ status: 503 }))).status).toBe(503);
  await closing;
  await hub.close();

  const again = await openHub({ store, key });
  for (const [index, answer] of answers.entries()) {
    if (answer.status !== "fulfilled" || answer.value["receipt"] === undefined) continue;
    const { handoff_id: id } = handoffs[index]!.envelope;
    expect(await again.operator.handoff(id)).toMatchObject({ state: "open" });
  }
  const taken = answers.filter(({ status }) => status === "fulfilled");
  expect(taken).toHaveLength(handoffs.length);
  const second = await serveHub({ hub: again, store, port: served.port });
  expect(second.operatorToken).toBe(served.operatorToken);
  const wireAgain = await owner.attach(0);
  await wireAgain.close();
  await second.close();
  await again.close();
});

test("a socket may publish before its hello, and is pinged after it", () =>
  withWorld(
    async ({ url }, _owner, worker) => {
      const wire = await Wire.open(url);
      await wire.next("challenge");
      const { key } = worker;
      const manifest = signManifest({ agent_id: "worker", capabilities: [{ name: "work" }] }, key);
      expect(await wire.call("publish", { manifest })).toEqual({ agent_id: "worker", sequence: 1 });
      const attached = await worker.attach();
      await attached.next("ping");
      attached.say({ type: "pong" }, { type: "ping" });
      await attached.next("pong");
      // A silent connection is regarded as dead.
      expect(await attached.closed).toBeGreaterThan(0);
    },
    { serve: { limits: { pingMs: 200 } } },
  ));
