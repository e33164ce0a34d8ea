/// <reference types="node" />
import { memoryStore } from "@waybill/hub";
import type { Store } from "@waybill/hub";
import { createReply, digestOfJws, digestOfBytes, signEnvelope } from "@waybill/protocol";
import { afterEach, describe, expect, test } from "vitest";
import { CountedStore } from "../store-fixture.ts";
import { ask, asOperator, openWorld } from "../served-fixture.ts";
import type { Party, World, WorldOptions } from "../served-fixture.ts";
import type { DoorName, ServedLimits } from "../budgets.ts";
import { RawConnection, requestText } from "./raw-fixture.ts";

const open: { close(): void | Promise<void> }[] = [];

afterEach(async () => {
  for (const each of open.splice(0).toReversed()) await each.close();
});

async function worldWith(options: WorldOptions): Promise<World> {
  const world = await openWorld(options);
  open.push(world);
  return world;
}

async function hits({ url, served }: World, budget: DoorName): Promise<number> {
  const { text } = await ask(`${url}/metrics`, { headers: asOperator(served, "/metrics") });
  const [, count] = new RegExp(`_hits_total\\{budget="${budget}"\\} (\\d+)$`, "m").exec(text) ?? [];
  return Number(count);
}

/** The connections on which a client has authenticated. */
async function connectionsOf({ url, served }: World): Promise<number> {
  const { text } = await ask(`${url}/metrics`, { headers: asOperator(served, "/metrics") });
  return Number(/^waybill_connections\{of="known"\} (\d+)$/m.exec(text)![1]);
}

/** The page size of streamed answers. */
interface Source {
  readonly party: Party;
  readonly path: string;
}

/** More than the system buffers for a socket that is not read. */
const BLOB = Buffer.alloc(24 * 1024 * 1024, "b");

const PIECE_BYTES = 64 * 1024;

async function blobOf(world: World, name: string): Promise<Source> {
  const party = await world.party(name);
  const digest = digestOfBytes(BLOB);
  await world.hub.blobs!.put({ digest, size: BLOB.length, as: name }, pieces());
  return { party, path: `/v1/blobs/${digest}` };
}

async function* pieces(): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < BLOB.length; at += PIECE_BYTES) yield BLOB.subarray(at, at + PIECE_BYTES);
}

const ENTRY = "x".repeat(700_000);

/** A handoff of an agent with itself, with a history of that many large entries. */
async function historyOf(world: World, name: string, entries: number): Promise<Source> {
  const party = await world.party(name, [{ name: "work" }]);
  const wire = await party.attach();
  const handoff = party.handoff(name);
  await party.submit(handoff.text);
  await wire.delivery("offer");
  await party.submit(party.accept(handoff));
  for (let count = 0; count < entries; count++) {
    const progress = createReply(handoff.envelope, {
      kind: "progress",
      from: name,
      attempt: 1,
      re: digestOfJws(handoff.text),
      body: { data: ENTRY },
    });
    expect((await party.submit(signEnvelope(progress, party.key))).status).toBe(200);
  }
  await wire.close();
  return { party, path: `/v1/handoffs/${handoff.envelope.handoff_id}/history` };
}

const LINES = { accept: "application/x-ndjson" };

/** Sends a request, and reads only the headers of the answer. */
async function unread(
  { url }: World,
  { party, path }: Source,
  accept = LINES.accept,
): Promise<RawConnection> {
  const reader = await RawConnection.open(url);
  open.push(reader);
  const authorization = `Authorization: ${party.proof(path, "GET")}`;
  reader.write(requestText(path, authorization, `Accept: ${accept}`, "Connection: close"));
  await reader.until("\r\n\r\n");
  expect(reader.received).toContain("200 OK");
  reader.socket.pause();
  return reader;
}

/** An answer that was not read so far. */
async function rest(reader: RawConnection): Promise<string> {
  reader.socket.resume();
  return reader.closed;
}

/** Watches the ledger; returns a function that waits for a text. */
async function watched({ url, served }: World): Promise<(part: string) => Promise<void>> {
  const ending = new AbortController();
  open.push({ close: () => ending.abort() });
  const headers = asOperator(served, "/v1/watch");
  const { body } = await fetch(`${url}/v1/watch`, { headers, signal: ending.signal });
  const reader = body!.pipeThrough(new TextDecoderStream()).getReader();
  let received = "";
  return async (part) => {
    while (!received.includes(part)) received += (await reader.read()).value;
  };
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
}

test("lines are read from the store on demand, one at a time", async () => {
  const counted = new CountedStore(memoryStore());
  const world = await worldWith({ hub: { store: counted.store } });
  const source = await historyOf(world, "long", 20);
  counted.reset();
  const reader = await unread(world, source);
  for (let last = -1; last !== counted.characters;) {
    last = counted.characters;
    await turns(500);
  }
  // The system buffers some megabytes for the socket. In base64url a text is a third longer.
  expect(counted.characters).toBeLessThan(10 * (4 / 3) * ENTRY.length);
  expect((await rest(reader)).length).toBeGreaterThan(20 * ENTRY.length);
});

test.each([
  ["lines", LINES.accept],
  ["pages", "application/json"],
])(
  "only a few parts of %s are read at a time for all readers, and each is charged before the next is read",
  async (_, accept) => {
    let reading = 0;
    let most = 0;
    const store = new Proxy(memoryStore(), {
      get(target, name: keyof Store) {
        const member = target[name] as boolean | ((...given: unknown[]) => unknown);
        if (typeof member !== "function") return member;
        if (name !== "ledgerOf") return member.bind(target);
        return async (...given: unknown[]) => {
          most = Math.max(most, ++reading);
          await turns(5);
          reading--;
          return member.apply(target, given);
        };
      },
    });
    const world = await worldWith({ hub: { store } });
    const source = await historyOf(world, "long", 2);
    await Promise.all(Array.from({ length: 12 }, () => unread(world, source, accept)));
    expect(most).toBe(4);
  },
);

test("nothing is read any more for a client that has left", async () => {
  let reads = 0;
  const leaving = Promise.withResolvers<void>();
  const store = new Proxy(memoryStore(), {
    get(target, name: keyof Store) {
      const member = target[name] as boolean | ((...given: unknown[]) => unknown);
      if (typeof member !== "function") return member;
      if (name !== "ledgerOf") return member.bind(target);
      return async (...given: unknown[]) => {
        reads++;
        await leaving.promise;
        return member.apply(target, given);
      };
    },
  });
  const world = await worldWith({ hub: { store } });
  const { party, path } = await historyOf(world, "long", 2);
  const others = await connectionsOf(world);
  const readers = await Promise.all(
    Array.from({ length: 12 }, async () => {
      const reader = await RawConnection.open(world.url);
      open.push(reader);
      reader.write(requestText(path, `Authorization: ${party.proof(path, "GET")}`));
      return reader;
    }),
  );
  while (reads < 4) await turns(1);
  for (const reader of readers) reader.socket.destroy();
  while ((await connectionsOf(world)) > others) await turns(1);
  leaving.resolve();
  await turns(100);
  expect(reads).toBe(4);
});

test("a long line is made in pieces: besides the entry one piece is in memory", async () => {
  // The text of an entry, and less than another copy of it.
  const heldBytesPerHub = Math.ceil(ENTRY.length * (16 / 9) * 1.5);
  const world = await worldWith({ serve: { limits: { heldBytesPerHub } } });
  const source = await historyOf(world, "long", 12);
  const whole = await source.party.ask(source.path, { headers: LINES });
  expect(await hits(world, "heldBytesPerHub")).toBe(0);
  const reader = await unread(world, source);
  expect((await rest(reader)).length).toBeGreaterThan(whole.text.length);
  expect(await hits(world, "heldBytesPerHub")).toBe(0);
});

test("a piece counts until the next is read, also while its reader is rate-limited", async () => {
  const limits = { heldBytesPerHub: 190_000, downloadBytesPerAgent: 1 };
  const world = await worldWith({ serve: { limits } });
  const source = await blobOf(world, "greedy");
  const readers: RawConnection[] = [];
  while (readers.length < 6) {
    const reader = await unread(world, source);
    reader.socket.resume();
    readers.push(reader);
  }
  while ((await hits(world, "heldBytesPerHub")) === 0) await turns(1);
});

test("readers that wait for new entries do not block others", async () => {
  const world = await worldWith({});
  const watchers = await Promise.all(Array.from({ length: 12 }, () => watched(world)));
  const source = await historyOf(world, "long", 1);
  const { text } = await source.party.ask(source.path, { headers: LINES });
  expect(text.length).toBeGreaterThan(ENTRY.length);
  await Promise.all(watchers.map((until) => until(source.path.split("/")[3]!)));
});

describe.each([false, true])("behind a proxy: %s", (isBehindProxy) => {
  const serve = (limits: Partial<ServedLimits>) => ({
    serve: { isBehindProxy, isOpenRegistry: true, newcomers: "open" as const, limits },
  });

  test("unread bytes count for the agent that has asked for them", async () => {
    const world = await worldWith(serve({ heldBytesPerHub: 190_000 }));
    const greedy = await blobOf(world, "greedy");
    const modest = await blobOf(world, "modest");
    const patient = await unread(world, modest);
    const readers: RawConnection[] = [];
    while ((await hits(world, "heldBytesPerHub")) === 0) {
      if (readers.length < 6) readers.push(await unread(world, greedy));
    }
    const ends = await Promise.all(readers.map(rest));
    expect(ends.some(({ length }) => length < BLOB.length)).toBe(true);
    expect((await rest(patient)).length).toBeGreaterThan(BLOB.length);
    expect(await hits(world, "strangerHeldBytes")).toBe(0);
  });

  test("the streams of an agent are limited, with a time to retry", async () => {
    const world = await worldWith(serve({ streamsPerAgent: 2 }));
    const source = await blobOf(world, "reader");
    const [first] = [await unread(world, source), await unread(world, source)];
    const refused = await source.party.ask(source.path);
    expect(refused.status).toBe(429);
    expect(refused.headers.get("retry-after")).toBe("5");
    expect(refused.headers.get("etag")).toBeNull();
    expect(refused.json.detail).toContain("reader is reading 2 blobs and histories at once");
    expect((await source.party.ask(source.path, { method: "HEAD" })).status).toBe(200);
    first.close();
    while ((await source.party.ask(source.path)).status !== 200);
  });
});

test.each(["downloadBytesPerAgent", "downloadBytesPerHub"] as const)(
  "agents are sent a limited number of bytes per second, and get all of them: %s",
  async (budget) => {
    const world = await worldWith({ serve: { limits: { [budget]: BLOB.length } } });
    const source = await blobOf(world, "reader");
    const answers = [await source.party.ask(source.path), await source.party.ask(source.path)];
    expect(answers.map(({ text }) => text.length)).toEqual([BLOB.length, BLOB.length]);
    expect(await hits(world, budget)).toBeGreaterThan(0);
  },
);

test("entries are read for histories at a limited rate, and all of them are sent", async () => {
  const limits = { historyBytesPerHub: 2 * ENTRY.length };
  const world = await worldWith({ serve: { limits } });
  const source = await historyOf(world, "reader", 3);
  const { text } = await source.party.ask(source.path, { headers: LINES });
  expect(text.length).toBeGreaterThan(3 * ENTRY.length);
  expect(await hits(world, "historyBytesPerHub")).toBeGreaterThan(0);
});

test("a client that reads a little now and then is closed like one that reads nothing", async () => {
  const world = await worldWith({
    serve: { limits: { unreadMs: 1_500, unreadBytes: BLOB.length } },
  });
  const reader = await unread(world, await blobOf(world, "slow"));
  const dripping = setInterval(() => reader.socket.read(PIECE_BYTES), 40);
  while ((await hits(world, "unreadMs")) === 0) await turns(1);
  clearInterval(dripping);
});

test("without free room the stream that is read least makes room, of the client with the most", async () => {
  const world = await worldWith({ serve: { limits: { streamsPerHub: 3 } } });
  const greedy = await blobOf(world, "greedy");
  const modest = await blobOf(world, "modest");
  const readers = [await unread(world, greedy), await unread(world, greedy)];
  const patient = await unread(world, modest);
  for (;;) {
    const { status, json } = await modest.party.ask(modest.path);
    if (status === 200) break;
    expect(status).toBe(503);
    expect(json.detail).toContain("3 blobs and histories at once");
  }
  const ends = await Promise.all(readers.map(rest));
  expect(ends.filter(({ length }) => length < BLOB.length)).toHaveLength(1);
  expect((await rest(patient)).length).toBeGreaterThan(BLOB.length);
});

test("without free room a client with many streams makes room for one without, even if it reads", async () => {
  const world = await worldWith({ serve: { limits: { streamsPerHub: 2 } } });
  const greedy = await blobOf(world, "greedy");
  const modest = await blobOf(world, "modest");
  const readers = [await unread(world, greedy), await unread(world, greedy)];
  // Nobody is late so far.
  expect((await modest.party.ask(modest.path)).status).toBe(200);
  const ends = await Promise.all(readers.map(rest));
  expect(ends.filter(({ length }) => length < BLOB.length)).toHaveLength(1);
});

test("what is held for a connection moves with it when another client uses it", async () => {
  const world = await worldWith({ serve: { limits: { heldBytesPerHub: 190_000 } } });
  const source = await blobOf(world, "greedy");
  const other = await world.party("other");
  const path = "/v1/dead-letters";
  for (let count = 0; count < 6; count++) {
    const reader = await unread(world, source);
    reader.write(requestText(path, `Authorization: ${other.proof(path, "GET")}`));
  }
  while ((await hits(world, "heldBytesPerHub")) === 0) await turns(1);
});
