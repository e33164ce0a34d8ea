/// <reference types="node" />
import { memoryStore } from "@waybill/hub";
import type { Store } from "@waybill/hub";
import { expect, test } from "vitest";
import { ask, openWorld } from "./served-fixture.ts";
import type { Party } from "./served-fixture.ts";

const PARTIES = 12;
const INPUT = "x".repeat(300_000);
const MESSAGE_BYTES = 410_000;
/** Two of the messages fill it, and one more is admitted before that. */
const LIMIT = 800_000;

/** A memory store whose commits take some turns of the event loop, and what is in them together. */
class WeighedCommits {
  readonly store: Store = memoryStore();
  most = 0;
  #now = 0;

  constructor() {
    const commit = this.store.commit.bind(this.store);
    this.store.commit = async (given) => {
      const contents = given.flatMap(({ entries }) => entries.map(({ content }) => content));
      const bytes = contents.join("").length;
      this.#now += bytes;
      this.most = Math.max(this.most, this.#now);
      for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
      this.#now -= bytes;
      return commit(given);
    };
  }
}

type Send = (party: Party, envelope: string) => Promise<unknown>;

/** The most bytes that were in commits at once, and the metrics afterwards. */
async function load(send: Send): Promise<{ readonly most: number; readonly metrics: string }> {
  const commits = new WeighedCommits();
  const world = await openWorld({
    hub: { store: commits.store },
    serve: { limits: { largeBytesPerHub: LIMIT } },
  });
  try {
    const parties = await Promise.all(
      Array.from({ length: PARTIES }, (_, index) =>
        world.party(`agent-${index}`, [{ name: "work" }]),
      ),
    );
    await Promise.all(
      parties.map(async (party) => {
        const body = { capability: "work", input: INPUT };
        expect(await send(party, party.handoff(party.id, { body }).text)).toHaveProperty("receipt");
      }),
    );
    return { most: commits.most, metrics: (await ask(`${world.url}/metrics`)).text };
  } finally {
    await world.close();
  }
}

const over: Readonly<Record<string, Send>> = {
  async sockets(party, envelope) {
    const line = await party.attach(0);
    const reply = await line.call("submit", { envelope });
    await line.close();
    return reply;
  },
  requests: async (party, envelope) => (await party.submit(envelope)).json,
  "signed requests": async (party, envelope) => {
    const { json } = await party.ask("/v1/envelopes", { body: { envelope } });
    return json;
  },
};

test.for(Object.entries(over))(
  "24: of large envelopes over %s, only a bounded number of bytes is in work, and all are taken",
  async ([, send]) => {
    const { most, metrics } = await load(send);
    expect(most).toBeGreaterThan(MESSAGE_BYTES);
    // The one that fills it exceeds it.
    expect(most).toBeLessThan(LIMIT + MESSAGE_BYTES);
    expect(metrics).toMatch(/_hits_total\{budget="largeBytesPerHub"\} [1-9]/);
  },
);

test("24: clients that go away while their bodies are in work, or wait, leave their room to others", async () => {
  const store = memoryStore();
  const reached = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const commit = store.commit.bind(store);
  store.commit = async (group) => {
    if (JSON.stringify(group).length > INPUT.length) {
      reached.resolve();
      await released.promise;
    }
    return commit(group);
  };
  const world = await openWorld({
    hub: { store },
    serve: { limits: { largeBytesPerHub: 1, closeMs: 100 } },
  });
  try {
    const party = await world.party("anna", [{ name: "work" }]);
    const leaving = new AbortController();
    const send = (signal: AbortSignal | null) => {
      const body = { capability: "work", input: INPUT };
      return fetch(`${world.url}/v1/envelopes`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ envelope: party.handoff(party.id, { body }).text }),
        signal,
      });
    };
    const gone = [send(leaving.signal)];
    await reached.promise;
    gone.push(send(leaving.signal));
    const metrics = async () => (await ask(`${world.url}/metrics`)).text;
    while (/_hits_total\{budget="largeBytesPerHub"\} 0$/m.test(await metrics()));
    leaving.abort();
    for (const each of gone) await expect(each).rejects.toThrow("abort");
    released.resolve();
    expect((await send(null)).status).toBe(200);
  } finally {
    await world.close();
  }
});
