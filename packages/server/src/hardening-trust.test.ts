/// <reference types="node" />
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import {
  createReply,
  digestOf,
  digestOfJws,
  generateKey,
  signEnvelope,
  signManifest,
} from "@waybill/protocol";
import type { Digest } from "@waybill/protocol";
import { afterEach, expect, test } from "vitest";
import { ask, asOperator, openWorld, Party } from "./served-fixture.ts";
import type { Answer, Signed, Wire, World } from "./served-fixture.ts";

const open: { close(): Promise<void> }[] = [];

afterEach(async () => {
  for (const each of open.splice(0).toReversed()) await each.close();
});

async function opened(options?: Parameters<typeof openWorld>[0]): Promise<World> {
  const world = await openWorld(options);
  open.push(world);
  return world;
}

/** Does this for every offer on a connection, one after the other. */
function forOffers(
  wire: Wire,
  work: (handoff: Signed, attempt: number) => Promise<unknown>,
): Promise<void> {
  const next = async (): Promise<void> => {
    for (;;) {
      const { envelope, handoff_id, attempt } = await wire.delivery("offer");
      const text = envelope as string;
      const payload = JSON.parse(Buffer.from(text.split(".")[1]!, "base64url").toString());
      await work({ text, envelope: { ...payload, handoff_id } }, attempt as number);
    }
  };
  // It ends with the connection.
  return next().catch(() => undefined);
}

/** Waits for the end of a handoff, and returns the recipients of its attempts. */
async function endOf(world: World, { envelope }: Signed): Promise<[string, ...string[]]> {
  const { handoff_id: id } = envelope;
  for (;;) {
    const next = new Promise<void>((resolve) => {
      const stop = world.store.onCommit(() => {
        stop();
        resolve();
      });
    });
    const view = (await world.hub.operator.handoff(id))!;
    if (view.state !== "open") {
      return [view.state, ...view.attempts.map(({ recipient }) => recipient)];
    }
    await next;
  }
}

const statusOf = ({ status, json }: Answer): number => json.waybill_status ?? status;

test("29: no inbox, discovery endpoint or artifact leads the hub to an inner address", async () => {
  let connections = 0;
  const inner = createServer((socket) => {
    connections++;
    socket.destroy();
  });
  await new Promise<void>((resolve) => inner.listen(0, "::", resolve));
  open.push({ close: () => new Promise<void>((resolve) => inner.close(() => resolve())) });
  const { port } = inner.address() as AddressInfo;

  const refused = new Map<unknown, unknown>();
  let wake = (): void => undefined;
  const logger = {
    info: () => undefined,
    error: () => undefined,
    warn(members: { agent?: string; status?: number }): void {
      refused.set(members.agent, members.status);
      wake();
    },
  };
  const world = await opened({ serve: { logger } });
  const hosts = ["127.1", "0x7f000001", "2130706433", "[::ffff:127.0.0.1]", "localhost.", "[::]"];
  const listeners: string[] = [];
  for (const [index, host] of hosts.entries()) {
    for (const scheme of ["https", "http"]) {
      const place = `${scheme}://${host}:${port}/`;
      const id = `${scheme}-${index}`;
      const key = generateKey();
      const manifest = signManifest(
        { agent_id: id, capabilities: [{ name: "work" }], inbox: place, discovery_endpoint: place },
        key,
      );
      const answer = await ask(`${world.url}/v1/agents/${id}`, {
        method: "PUT",
        body: { manifest },
      });
      if (answer.status === 200) listeners.push(id);
      else expect(statusOf(answer), place).toBe(400);
    }
  }
  expect(listeners.length).toBeGreaterThanOrEqual(hosts.length);
  const owner = await world.party("owner");
  const artifact = { name: "a", media_type: "text/plain", digest: digestOf("x") };
  const url = `http://127.0.0.1:${port}/`;
  for (const id of listeners) {
    const body = { capability: "work", artifacts: [{ ...artifact, url }] };
    expect(statusOf(await owner.submit(owner.handoff(id, { body }).text))).toBe(200);
  }
  while (listeners.some((id) => !refused.has(id))) {
    await new Promise<void>((resolve) => (wake = resolve));
  }
  expect([...refused.values()]).toEqual(listeners.map(() => 403));
  expect(connections).toBe(0);
});

test("32: a changed manifest under a pinned digest is 403, whoever signed it", async () => {
  const pins = new Map<string, { digest: Digest }>();
  const world = await opened({ hub: { trust: { firstUse: true, pins } } });
  const key = generateKey();
  const first = signManifest({ agent_id: "worker", capabilities: [{ name: "work" }] }, key);
  const publish = (manifest: string) =>
    ask(`${world.url}/v1/agents/worker`, { method: "PUT", body: { manifest } });
  expect((await publish(first)).status).toBe(200);
  pins.set("worker", { digest: digestOfJws(first) });
  const changed = signManifest(
    {
      agent_id: "worker",
      capabilities: [{ name: "work" }, { name: "more" }],
      keys: [key.jwk],
      sequence: 2,
      previous: digestOfJws(first),
    },
    key,
  );
  expect(statusOf(await publish(changed))).toBe(403);
  const worker = new Party("worker", key, world.url, world.hub);
  const wire = await worker.attach();
  const { problem } = await wire.call("publish", { manifest: changed });
  expect(problem).toMatchObject({ waybill_status: 403 });
  await wire.close();
  expect(statusOf(await publish(first))).toBe(200);
  const { json } = await ask(`${world.url}/v1/agents/worker`);
  expect(json["capabilities"]).toMatchObject([{ name: "work" }]);
});

test("33: a claim that measurement contradicts is ignored, and that is reported", async () => {
  const world = await opened();
  const terms = { timeout_seconds: 60, max_attempts: 1 };
  const boaster = await world.party("boaster", [
    { name: "work", ...terms, reliability_sla: 0.999 },
  ]);
  await world.party("modest", [{ name: "work", ...terms, reliability_sla: 0.5 }]);
  const owner = await world.party("owner");
  const found = async () => {
    const { json } = await ask(`${world.url}/v1/capabilities?capability=work`);
    return (json as { fits: { agent_id: string }[] }).fits;
  };
  expect(await found()).toMatchObject([{ agent_id: "boaster" }, { agent_id: "modest" }]);
  const wire = await boaster.attach();
  let failures = 0;
  const working = forOffers(wire, async (handoff, attempt) => {
    // Occasional successes, so that it is judged by its record and not ejected for a series of
    // failures.
    const isGood = failures++ % 2 === 1;
    const re = digestOfJws(handoff.text);
    const body = isGood ? { status: 200, output: 1 } : { status: 500, error: { message: "no" } };
    const result = createReply(handoff.envelope, {
      kind: "result",
      from: "boaster",
      attempt,
      re,
      body,
    } as never);
    expect(statusOf(await boaster.submit(signEnvelope(result, boaster.key)))).toBe(200);
  });
  for (let turn = 0; turn < 20; turn++) {
    const handoff = owner.handoff("boaster");
    expect(statusOf(await owner.submit(handoff.text))).toBe(200);
    await endOf(world, handoff);
  }
  const [best, second] = await found();
  expect([best, second]).toMatchObject([
    { agent_id: "boaster", is_measured: true, is_contradicted: true },
    { agent_id: "modest", is_contradicted: false },
  ]);
  expect(JSON.stringify(best)).toContain("its claim is false and counts for nothing");
  await wire.close();
  await working;
});

test("36: an agent that takes everything and does nothing is passed over once it has failed three times", async () => {
  const world = await opened({ hub: { terms: { backoffMs: 10 } } });
  const terms = { lease_seconds: 1, max_attempts: 3 };
  const idle = await world.party("idle", [{ name: "work", ...terms, reliability_sla: 1 }]);
  const busy = await world.party("busy", [{ name: "work", ...terms }]);
  const owner = await world.party("owner");
  const silent = await idle.attach(100);
  const taking = forOffers(silent, (handoff, attempt) =>
    idle.submit(idle.accept(handoff, attempt)),
  );
  const wire = await busy.attach(100);
  const working = forOffers(wire, (handoff, attempt) =>
    busy.submit(busy.result(handoff, "done", attempt)),
  );
  const handOff = async () => {
    const to = { capability: "work" };
    const handoff = owner.handoff(to as never);
    expect(statusOf(await owner.submit(handoff.text))).toBe(200);
    return endOf(world, handoff);
  };
  // About half of them go to the idle agent first at random; three of them are enough.
  const first = await Promise.all(Array.from({ length: 24 }, handOff));
  const lost = first.filter((recipients) => recipients.includes("idle"));
  expect(lost.length).toBeGreaterThanOrEqual(3);
  for (const recipients of lost) expect(recipients).toEqual(["completed", "idle", "busy"]);
  for (let turn = 0; turn < 8; turn++) expect(await handOff()).toEqual(["completed", "busy"]);
  await Promise.all([silent.close(), wire.close(), taking, working]);
});

test("37: a handoff that kills every recipient ends after its last attempt", async () => {
  const world = await opened({ hub: { terms: { backoffMs: 10 } } });
  const ids = ["a", "b", "c", "d", "e"];
  const killed: string[] = [];
  const lines: Promise<unknown>[] = [];
  for (const id of ids) {
    const party = await world.party(id, [{ name: "work", lease_seconds: 1, max_attempts: 3 }]);
    const wire = await party.attach();
    lines.push(
      forOffers(wire, async (handoff, attempt) => {
        killed.push(id);
        expect(statusOf(await party.submit(party.accept(handoff, attempt)))).toBe(200);
        // As a process that dies: without a frame.
        wire.socket.terminate();
      }),
    );
    open.push({ close: () => wire.close() });
  }
  const owner = await world.party("owner");
  const poison = owner.handoff({ capability: "work" } as never);
  expect(statusOf(await owner.submit(poison.text))).toBe(200);
  const [state, ...recipients] = await endOf(world, poison);
  expect(state).toBe("dead_lettered");
  expect(recipients).toHaveLength(3);
  expect(killed).toEqual(recipients);
  expect(new Set(killed).size).toBe(3);
  const headers = asOperator(world.served, "/v1/dead-letters");
  const { json } = await ask(`${world.url}/v1/dead-letters`, { headers });
  expect(json["dead_letters"]).toMatchObject([
    { id: poison.envelope.handoff_id, status: 508, attempts: 3 },
  ]);
});
