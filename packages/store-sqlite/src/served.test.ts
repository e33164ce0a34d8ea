/// <reference types="node" />
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ledgerEntries, ledgerHistory, verifyLedger } from "@waybill/hub";
import {
  createHandoff,
  createReply,
  digestOfJws,
  generateKey,
  newId,
  parseEnvelope,
  privateKeyFrom,
  readCompact,
  signEnvelope,
  signManifest,
} from "@waybill/protocol";
import { checkHistory } from "@waybill/protocol/audit";
import type { HandoffEnvelope, PrivateKey } from "@waybill/protocol";
import { signRequest } from "@waybill/protocol/wire";
import { expect, test } from "vitest";
import { openSqliteStore } from "./sqlite-store.ts";

const HUB = new URL("served-process-fixture.ts", import.meta.url).pathname;
const HANDOFFS = 60;
const KILLS = 3;

/** A hub that is killed and restarted at the same address. */
class HubProcess {
  readonly #file: string;
  readonly #seed = Buffer.from(crypto.getRandomValues(new Uint8Array(32)));
  readonly domain: string = privateKeyFrom(this.#seed).kid;
  #child: ChildProcess | undefined;
  #port = 0;

  constructor(file: string) {
    this.#file = file;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  async start(): Promise<void> {
    const child = spawn(
      process.execPath,
      [HUB, this.#file, this.#seed.toString("hex"), `${this.#port}`],
      {
        stdio: ["ignore", "pipe", "inherit"],
      },
    );
    this.#child = child;
    const [port] = await new Promise<[string]>((resolve, reject) => {
      child.stdout.once("data", (data: Buffer) => resolve([data.toString()]));
      child.once("exit", (code) => reject(new Error(`the hub has ended with ${code}`)));
    });
    this.#port = Number(port);
  }

  async kill(): Promise<void> {
    const child = this.#child!;
    const gone = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    await gone;
  }
}

/** Repeats a request until the hub answers it finally. */
async function asked(ask: () => Promise<Response>): Promise<Response> {
  for (;;) {
    const response = await ask().catch(() => undefined);
    if (response !== undefined && response.status !== 503) {
      const text = await response.text().catch(() => undefined);
      if (text !== undefined) {
        const { status } = response;
        return new Response(status === 204 ? null : text, { status });
      }
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

class Agent {
  readonly id: string;
  readonly key: PrivateKey = generateKey();
  readonly hub: HubProcess;

  constructor(id: string, hub: HubProcess) {
    this.id = id;
    this.hub = hub;
  }

  async publish(capabilities: readonly { name: string }[]): Promise<void> {
    const manifest = signManifest({ agent_id: this.id, capabilities }, this.key);
    const response = await asked(() =>
      fetch(`${this.hub.url}/v1/agents/${this.id}`, {
        method: "PUT",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ manifest }),
      }),
    );
    expect(response.status).toBe(200);
  }

  /** The same bytes each time. */
  submit(envelope: string): Promise<Response> {
    return asked(() =>
      fetch(`${this.hub.url}/v1/envelopes`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ envelope }),
      }),
    );
  }

  /** Takes deliveries one at a time, until the callback is done. */
  async receive(credit: number, work: (delivery: Delivery) => Promise<boolean>): Promise<void> {
    const instance = newId();
    for (let cursor = ""; ;) {
      const path = `/v1/inbox?instance=${instance}&wait_seconds=1&credit=${credit}${cursor}`;
      const response = await asked(() => {
        const claim = {
          from: this.id,
          to: "hub",
          domain: this.hub.domain,
          id: newId(),
          at: Date.now(),
          method: "GET",
          path,
        };
        return fetch(this.hub.url + path, {
          headers: { authorization: signRequest(claim, this.key) },
        });
      });
      const polled = (await response.json()) as { cursor: string; deliveries: Delivery[] };
      expect(response.status, JSON.stringify(polled)).toBe(200);
      cursor = `&cursor=${polled.cursor}`;
      for (const delivery of polled.deliveries) if (await work(delivery)) return;
    }
  }
}

interface Delivery {
  readonly type: string;
  readonly handoff_id: string;
  readonly attempt: number;
  readonly envelope: string;
}

test("a served hub that is killed three times loses nothing and ends everything once", async () => {
  const folder = await mkdtemp(join(tmpdir(), "waybill-served-"));
  const file = join(folder, "hub.db");
  const hub = new HubProcess(file);
  await hub.start();
  const owner = new Agent("owner", hub);
  const worker = new Agent("worker", hub);
  await owner.publish([]);
  await worker.publish([{ name: "work" }]);
  let isDone = false;

  const working = worker.receive(8, async ({ type, envelope, attempt }) => {
    if (type !== "offer") return isDone;
    const handoff = parseEnvelope(readCompact(envelope).payload) as HandoffEnvelope;
    const own = { from: "worker", attempt, re: digestOfJws(envelope) };
    const say = (reply: Parameters<typeof createReply>[1]) =>
      worker.submit(signEnvelope(createReply(handoff, reply as never), worker.key));
    const accepted = await say({ kind: "receipt", ...own, body: { status: 101 } } as never);
    if (accepted.status !== 200) return isDone;
    await say({
      kind: "result",
      ...own,
      body: { status: 200, output: handoff.body.input },
    } as never);
    return isDone;
  });

  const made: HandoffEnvelope[] = [];
  const results = new Map<string, unknown>();
  const receiving = owner.receive(0, async ({ type, handoff_id: id, envelope }) => {
    const received = parseEnvelope(readCompact(envelope).payload);
    if (type !== "envelope" || received.kind !== "result") return false;
    results.set(id, received.body.output);
    const receipt = createReply(
      made.find(({ handoff_id }) => handoff_id === id)!,
      {
        kind: "receipt",
        from: "owner",
        to: "hub",
        re: digestOfJws(envelope),
        body: { status: 200 },
      },
    );
    await owner.submit(signEnvelope(receipt, owner.key));
    if (results.size % Math.ceil(HANDOFFS / (KILLS + 1)) === 0 && results.size < HANDOFFS) {
      // In the middle of everything else.
      await hub.kill();
      await hub.start();
    }
    return results.size === HANDOFFS;
  });

  const sending = Array.from({ length: HANDOFFS }, async (_, index) => {
    const handoff = createHandoff({
      from: "owner",
      domain: hub.domain,
      to: "worker",
      body: { capability: "work", input: index },
      timeoutMs: 100_000,
    });
    made.push(handoff);
    const text = signEnvelope(handoff, owner.key);
    const response = await owner.submit(text);
    expect(response.status).toBe(200);
    const { receipt } = (await response.json()) as { receipt: string };
    expect(parseEnvelope(readCompact(receipt).payload)).toMatchObject({ re: digestOfJws(text) });
  });

  await Promise.all([...sending, receiving]);
  isDone = true;
  const last = createHandoff({
    from: "owner",
    domain: hub.domain,
    to: "worker",
    body: { capability: "work", input: "the last one" },
    timeoutMs: 100_000,
  });
  await owner.submit(signEnvelope(last, owner.key));
  await working;
  await hub.kill();

  expect(made.map(({ handoff_id: id, body }) => [id, body.input])).toEqual(
    made.map(({ handoff_id: id }) => [id, results.get(id)]),
  );
  const store = await openSqliteStore(file);
  expect(await verifyLedger(ledgerEntries(store))).toMatchObject({ holds: true });
  const history = await Array.fromAsync(ledgerHistory(store));
  expect(checkHistory(history, { hub: "hub" })).toMatchObject({ holds: true, violations: [] });
  for (const { handoff_id: id } of made) {
    expect((await store.handoff(id))?.state).toBe("completed");
  }
  await store.close();
  await rm(folder, { recursive: true });
}, 110_000);
