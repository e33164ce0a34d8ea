/// <reference types="node" />
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { verifyLedger } from "@waybill/hub";
import type { Commit, LedgerHead } from "@waybill/hub/store";
import { digestOf, digestOfJws, generateKey, signCompact } from "@waybill/protocol";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { migrate, numberOf } from "./migrate.ts";
import { APPLICATION_ID, MIGRATIONS } from "./schema.ts";
import { openSqliteReader } from "./sqlite-reader.ts";
import { openSqliteStore } from "./sqlite-store.ts";
import { locate, remove } from "./store-fixture.ts";
import { chainHash, commitOne, EMPTY_LEDGER } from "@waybill/hub/store";

const KEY = generateKey();
let path: string;
beforeEach(async () => {
  path = await locate();
});
afterEach(() => remove(path));

function commitOf(number: number, version = 1, record = "{}"): Commit {
  const content = `${number} ${version}`;
  return {
    handoff: {
      id: `handoff-${number}`,
      version,
      record,
      state: "open",
      delegator: "editor",
      correlationId: "job",
      parentId: null,
      groupId: null,
      wakeAt: number,
      waitsFor: null,
      waitsAt: 0,
      session: null,
      sessionAt: 0,
      inboxes: [],
      isDeadLetter: false,
    },
    entries: [
      {
        at: 0,
        handoffId: `handoff-${number}`,
        type: "decision",
        content,
        digest: digestOf(content),
        replayKey: null,
      },
    ],
  };
}

async function filled(count: number, record = "x".repeat(500)): Promise<void> {
  const store = await openSqliteStore(path);
  await Promise.all(
    Array.from({ length: count }, (_, number) => commitOne(store, commitOf(number, 1, record))),
  );
  await store.close();
}

const refused = (message: RegExp, status = 500) =>
  expect.objectContaining({
    name: "WaybillError",
    status,
    message: expect.stringMatching(message) as string,
  });

test("a commit that can't be written is refused alone, and not the others of its transaction", async () => {
  const store = await openSqliteStore(path);
  const fractional = commitOf(2);
  const [first, second, third] = await Promise.allSettled([
    commitOne(store, commitOf(1)),
    commitOne(store, { ...fractional, handoff: { ...fractional.handoff!, wakeAt: 0.5 } }),
    commitOne(store, commitOf(3)),
  ]);
  expect(first).toMatchObject({ status: "fulfilled", value: { lastSequence: 1 } });
  expect(second).toMatchObject({ status: "rejected", reason: { status: 500 } });
  expect(third).toMatchObject({ status: "fulfilled", value: { lastSequence: 2 } });
  await store.close();
});

test("a replay is detected within a shared transaction, and nothing of it is written", async () => {
  const store = await openSqliteStore(path);
  const sent = (number: number, id: string, version = 1): Commit => {
    const { handoff, entries } = commitOf(number, version);
    const replayKey = { from: "editor", id };
    const content = signCompact(entries[0]!.content, KEY);
    const signed = {
      ...entries[0]!,
      type: "envelope",
      content,
      digest: digestOfJws(content),
    } as const;
    return { handoff, entries: [...entries, { ...signed, replayKey }] };
  };
  await commitOne(store, sent(0, "earlier"));
  const { digest } = sent(0, "earlier").entries[1]!;
  const outcomes = await Promise.all([
    commitOne(store, sent(1, "one")),
    commitOne(store, sent(2, "earlier")),
    commitOne(store, sent(3, "two")),
    commitOne(store, sent(4, "two")),
    commitOne(store, sent(0, "three", 3)),
    commitOne(store, sent(0, "earlier", 3)),
    commitOne(store, sent(0, "four", 2)),
  ]);
  expect(outcomes).toEqual([
    { type: "committed", lastSequence: 4 },
    { type: "replayed", digest },
    { type: "committed", lastSequence: 6 },
    { type: "replayed", digest: sent(3, "two").entries[1]!.digest },
    { type: "conflict" },
    { type: "replayed", digest },
    { type: "committed", lastSequence: 8 },
  ]);
  const entries = await store.ledger({ limit: 100 });
  expect(entries).toHaveLength(8);
  expect((await verifyLedger(entries)).holds).toBe(true);
  expect(await store.handoff("handoff-2")).toBeUndefined();
  expect(await store.handoff("handoff-4")).toBeUndefined();
  await store.close();
});

test("a commit that can't even be sent to the thread is refused alone", async () => {
  const store = await openSqliteStore(path);
  const odd = { ...commitOf(2), entries: [{ ...commitOf(2).entries[0]!, content: () => "" }] };
  const [first, second, third] = await Promise.allSettled([
    commitOne(store, commitOf(1)),
    commitOne(store, odd as unknown as Commit),
    commitOne(store, commitOf(3)),
  ]);
  expect(first).toMatchObject({ status: "fulfilled", value: { lastSequence: 1 } });
  expect(second).toMatchObject({ status: "rejected", reason: { status: 500 } });
  expect(third).toMatchObject({ status: "fulfilled", value: { lastSequence: 2 } });
  await store.close();
});

test("commits made here and by the thread, alternating, form one chain", async () => {
  const passed = vi.spyOn(performance, "now");
  const store = await openSqliteStore(path);
  let number = 0;
  const commit = () => commitOne(store, commitOf(number++));
  for (let turn = 0; turn < 5; turn++) {
    // Long enough after the others that the next ones are alone.
    passed.mockReturnValue(10_000 * (turn + 1));
    for (const count of [1, 2, 40, 1, 3]) {
      const outcomes = await Promise.all(Array.from({ length: count }, commit));
      expect(outcomes.map(({ type }) => type)).toEqual(Array(count).fill("committed"));
      expect(outcomes.at(-1)).toMatchObject({ lastSequence: number });
    }
  }
  expect(await store.ledgerHead()).toMatchObject({ sequence: number });
  expect((await verifyLedger(await store.ledger({ limit: 1000 }))).holds).toBe(true);
  await store.close();
  passed.mockRestore();
});

test("a process stays alive for its commits, and for nothing else of a store", () => {
  const fixture = new URL("./store-fixture.ts", import.meta.url).href;
  const commits = [commitOf(1), commitOf(2)].map((each) => JSON.stringify(each));
  const open = `const store = (globalThis.store = await openStore(${JSON.stringify(path)}));`;
  const cases = [
    { work: "", printed: "" },
    { work: `console.log((await store.commit([${commits[0]}]))[0].type);`, printed: "committed\n" },
    {
      work: `store.commit([${commits[1]}]).then(([{ type }]) => console.log(type));`,
      printed: "committed\n",
    },
    {
      work: `console.log((await Promise.all([1, 2, 3].map((number) => store.saveSetting("name", String(number))))).length);`,
      printed: "3\n",
    },
  ];
  for (const { work, printed } of cases) {
    const code = `import(${JSON.stringify(fixture)}).then(async ({ openStore }) => { ${open} ${work} });`;
    const child = spawnSync(process.execPath, ["-e", code], { encoding: "utf8", timeout: 60_000 });
    expect({ stdout: child.stdout, status: child.status }).toEqual({ stdout: printed, status: 0 });
  }
});

test("commits submitted before closing are written, and later ones are refused", async () => {
  const store = await openSqliteStore(path);
  const given = Array.from({ length: 200 }, (_, number) => commitOne(store, commitOf(number)));
  const closing = store.close();
  await expect(commitOne(store, commitOf(200))).rejects.toThrow(refused(/is closed/, 503));
  const outcomes = await Promise.all(given);
  expect(outcomes.map((each) => each.type)).toEqual(given.map(() => "committed"));
  await Promise.all([closing, store.close()]);
  const again = await openSqliteStore(path);
  expect((await again.ledgerHead()).sequence).toBe(200);
  await again.close();
});

describe("one owner", () => {
  test("a second hub in this process is refused, by any path to the file, until the first closes", async () => {
    const store = await openSqliteStore(path);
    const link = join(dirname(path), "link.db");
    symlinkSync(path, link);
    for (const other of [path, link]) {
      await expect(openSqliteStore(other, { busyTimeoutMs: 0 })).rejects.toThrow(
        refused(/hub\.db is open in this process already/, 503),
      );
    }
    await store.close();
    await (await openSqliteStore(link)).close();
  });

  test("a hub in another process is named, and the file is free after it was killed", async () => {
    const fixture = new URL("./store-fixture.ts", import.meta.url).href;
    const code = `import(${JSON.stringify(fixture)}).then(async ({ openStore }) => { globalThis.store = await openStore(${JSON.stringify(path)}); console.log("open"); setInterval(() => {}, 1000); });`;
    const child = spawn(process.execPath, ["-e", code], { stdio: ["ignore", "pipe", "inherit"] });
    await once(child.stdout, "data");
    await expect(openSqliteStore(path, { busyTimeoutMs: 0 })).rejects.toThrow(
      refused(new RegExp(`is open in process ${child.pid}, and a store has one owner`), 503),
    );
    child.kill("SIGKILL");
    await once(child, "exit");
    await (await openSqliteStore(path)).close();
  });

  test("while another program has locked the index, commits are made and listings are refused", async () => {
    const store = await openSqliteStore(path, { busyTimeoutMs: 0 });
    const other = new DatabaseSync(path);
    other.exec("BEGIN IMMEDIATE");
    expect((await commitOne(store, commitOf(1))).type).toBe("committed");
    expect((await commitOne(store, commitOf(1, 2))).type).toBe("committed");
    expect((await store.handoff("handoff-1"))?.version).toBe(2);
    const listing = store.correlated("job", { limit: 10 });
    await expect(listing).rejects.toThrow(refused(/hub\.db is locked: another program/, 503));
    await expect(listing).rejects.toMatchObject({ retryable: true });
    other.exec("ROLLBACK");
    other.close();
    expect(await store.correlated("job", { limit: 10 })).toMatchObject([{ version: 2 }]);
    await store.close();
  });
});

describe("versions of the file", () => {
  test("a newer file is refused and unchanged", async () => {
    await filled(1);
    const database = new DatabaseSync(path);
    database.exec(`PRAGMA user_version = ${MIGRATIONS.length + 1}`);
    database.close();
    const before = readFileSync(path);
    await expect(openSqliteStore(path)).rejects.toThrow(refused(/a newer release wrote it/));
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  test("a database of another application is refused and unchanged", async () => {
    const database = new DatabaseSync(path);
    database.exec("CREATE TABLE mine (x)");
    database.close();
    const before = readFileSync(path);
    await expect(openSqliteStore(path)).rejects.toThrow(refused(/of another application/));
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  test("a file is migrated from each version to the next, each completely or not at all", () => {
    const steps = ["CREATE TABLE a (x)", "ALTER TABLE a ADD COLUMN y", "CREATE TABLE b (z)"];
    const database = new DatabaseSync(path);
    for (let version = 1; version <= steps.length; version++) {
      migrate(database, steps.slice(0, version));
      expect(numberOf(database, "user_version")).toBe(version);
      expect(numberOf(database, "application_id")).toBe(APPLICATION_ID);
    }
    const broken = [...steps, "CREATE TABLE c (x); CREATE TABLE a (x)"];
    expect(() => migrate(database, broken)).toThrow(/already exists/);
    expect(numberOf(database, "user_version")).toBe(3);
    expect(database.prepare("SELECT name FROM sqlite_schema ORDER BY name").all()).toEqual([
      expect.objectContaining({ name: "a" }),
      expect.objectContaining({ name: "b" }),
    ]);
    migrate(database, [...steps, "CREATE TABLE c (x)"]);
    expect(numberOf(database, "user_version")).toBe(4);
    database.close();
  });
});

test("a file of the first version is migrated with its handoffs, and then detects modifications", async () => {
  const database = new DatabaseSync(path);
  migrate(database, MIGRATIONS.slice(0, 1));
  const first = { id: "handoff-1", record: '{"n":1}' };
  database
    .prepare(
      "INSERT INTO handoff VALUES (?, 3, 'open', 'owner', 'job', NULL, NULL, 5, NULL, '[\"owner\"]', 0, ?)",
    )
    .run(first.id, first.record);
  database.prepare("INSERT INTO inbox VALUES ('owner', ?)").run(first.id);
  database.close();
  const store = await openSqliteStore(path);
  const stored = (await store.handoff(first.id))!;
  expect(stored).toMatchObject({ ...first, version: 3, wakeAt: 5, inboxes: ["owner"] });
  expect(await store.inbox("owner", { limit: 10 })).toEqual([stored]);
  await store.check();
  const changed = { ...stored, version: 4, record: '{"n":2}', delegator: "another" };
  expect((await commitOne(store, { handoff: changed, entries: [] })).type).toBe("committed");
  expect(await store.handoff(first.id)).toEqual({ ...changed, delegator: "owner" });
  await store.close();
  const other = new DatabaseSync(path);
  other.exec("UPDATE handoff SET record = '{}'");
  other.close();
  const again = await openSqliteStore(path);
  await expect(again.handoff(first.id)).rejects.toThrow(refused(/is damaged: the row of handoff/));
  await again.close();
});

test("the ledger of a database without a log is continued, and verifies with what follows", async () => {
  const old = 150;
  const database = new DatabaseSync(path);
  migrate(database, MIGRATIONS.slice(0, 6));
  const insert = database.prepare("INSERT INTO ledger VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
  let head: LedgerHead = EMPTY_LEDGER;
  for (let sequence = 1; sequence <= old; sequence++) {
    const [entry] = commitOf(sequence).entries;
    const id = `0198c0de-0000-7000-8000-${`${sequence}`.padStart(12, "0")}`;
    const placed = { ...entry!, sequence, replayKey: { from: "editor", id } };
    const hash = chainHash(head.hash, placed);
    const { at, type, handoffId, digest, content } = placed;
    insert.run(sequence, at, type, handoffId, "editor", id, digest, hash, content);
    head = { sequence, hash };
  }
  database.close();
  const store = await openSqliteStore(path);
  expect(await store.ledgerHead()).toEqual(head);
  expect((await commitOne(store, commitOf(1_000))).type).toBe("committed");
  const { replayKey, digest } = (await store.ledger({ limit: 1, after: 6 }))[0]!;
  expect(await store.seen("editor", replayKey!.id)).toEqual({ digest, sequence: 7 });
  const again = { ...commitOf(1_001).entries[0]!, replayKey };
  expect(await commitOne(store, { handoff: null, entries: [again] })).toEqual({
    type: "replayed",
    digest,
  });
  const entries = await store.ledger({ limit: 1_000 });
  expect(entries).toHaveLength(old + 1);
  expect(await verifyLedger(entries)).toMatchObject({ holds: true, entries: old + 1 });
  expect(await store.ledgerOf("handoff-7", { limit: 10 })).toEqual([entries[6]]);
  await store.check();
  const to = join(dirname(path), "backup.db");
  await store.backup(to);
  await store.close();
  for (const each of [path, to]) {
    const reader = await openSqliteReader(each);
    expect(await reader.ledger({ limit: 1_000 })).toEqual(entries);
    await reader.check();
    await reader.close();
  }
});

describe("damage", () => {
  test("a file that is no database is refused and unchanged", async () => {
    writeFileSync(path, "a diary, and a long one ".repeat(300));
    await expect(openSqliteStore(path)).rejects.toThrow(
      refused(/is not a store: it is no SQLite database/),
    );
    expect(readFileSync(path, "utf8")).toMatch(/^a diary/);
  });

  test("a truncated file is refused", async () => {
    await filled(200);
    truncateSync(path, statSync(path).size - 3 * 4096);
    await expect(openAndCheck()).rejects.toThrow(refused(/hub\.db is damaged/));
  });

  test("any page overwritten with noise is found by a check", async () => {
    await filled(60);
    const good = readFileSync(path);
    for (let page = 0; page < good.length / 4096; page++) {
      const bad = Buffer.from(good);
      bad.fill(0xa5, page * 4096, (page + 1) * 4096);
      writeFileSync(path, bad);
      await expect(openAndCheck(), `page ${page}`).rejects.toThrow(
        refused(/is damaged|no SQLite database|another application/),
      );
    }
  });

  test("a modified byte of the last commit is found when the store is opened", async () => {
    await filled(10);
    change("9 1", "8 1");
    await expect(openSqliteStore(path)).rejects.toThrow(
      refused(/hub\.db is damaged: frame \d+, which was on disk, is missing or broken/),
    );
  });

  test("a modified byte further back is found by a check, which tells what holds", async () => {
    const store = await openSqliteStore(path);
    for (let number = 1; number <= 9; number++) await commitOne(store, commitOf(number));
    await store.close();
    change("7 1", "6 1");
    const again = await openSqliteStore(path);
    await expect(again.check()).rejects.toThrow(
      refused(/entries up to 6 hold, and so do entries from 8 to 9/),
    );
    const report = await verifyLedger(await again.ledger({ limit: 1000 }));
    expect(report).toMatchObject({ holds: false, sequence: 7, fault: "content_changed" });
    await again.close();
  });

  test("a missing table is damage", async () => {
    await filled(1);
    edit("DROP TABLE inbox");
    await expect(openSqliteStore(path)).rejects.toThrow(refused(/hub\.db is damaged/));
  });

  test.each([
    ["record", "'[]'"],
    ["version", "version + 1"],
    ["state", "'failed'"],
    ["delegator", "'thief'"],
    ["correlation_id", "'another'"],
    ["parent_id", "'another'"],
    ["group_id", "'another'"],
    ["session", "'another'"],
    ["wake_at", "wake_at + 1"],
    ["waits_for", "'agent:thief'"],
    ["waits_at", "1"],
    ["inboxes", `'["thief"]'`],
    ["is_dead_letter", "1 - is_dead_letter"],
    ["checksum", "checksum + 1"],
    ["id", "'handoff-77'"],
  ])(
    "a handoff with a modified %s is found when it is read, and by a check",
    async (column, value) => {
      await filled(3);
      edit(`UPDATE handoff SET ${column} = ${value} WHERE id = 'handoff-1'`);
      const store = await openSqliteStore(path);
      const id = column === "id" ? "handoff-77" : "handoff-1";
      await expect(store.handoff(id)).rejects.toThrow(
        refused(
          new RegExp(`hub\\.db is damaged: the row of handoff ${id} is not as it was written`),
        ),
      );
      expect(await store.handoff("handoff-2")).toBeDefined();
      await expect(store.check()).rejects.toThrow(refused(/is damaged: the row of handoff/));
      await store.close();
    },
  );

  /** Changes the text of an entry where it is in the log. */
  function change(from: string, to: string): void {
    const segment = join(`${path}-log`, "00000001.log");
    const bytes = readFileSync(segment);
    bytes.write(`["e","${to}`, bytes.indexOf(`["e","${from}`));
    writeFileSync(segment, bytes);
  }

  async function openAndCheck(): Promise<void> {
    const store = await openSqliteStore(path);
    try {
      await store.check();
    } finally {
      await store.close();
    }
  }

  function edit(sql: string): void {
    const database = new DatabaseSync(path);
    database.exec(sql);
    database.close();
  }
});

describe("the disk", () => {
  test("a commit that finds it full is refused, smaller ones succeed, and it continues when there is space", async () => {
    await filled(5);
    const store = await openSqliteStore(path, { bytesMax: 60 * 4096 });
    const large = commitOf(100, 1, "x".repeat(400_000));
    const [first, second, third] = await Promise.allSettled([
      commitOne(store, commitOf(0, 2)),
      commitOne(store, large),
      commitOne(store, commitOf(1, 2)),
    ]);
    expect(first.status).toBe("fulfilled");
    expect(third.status).toBe("fulfilled");
    expect(second).toMatchObject({ reason: refused(/The disk under the store .* is full/, 503) });
    expect(await store.handoff("handoff-100")).toBeUndefined();
    expect((await store.handoff("handoff-1"))?.version).toBe(2);
    expect((await verifyLedger(await store.ledger({ limit: 100 }))).holds).toBe(true);
    await store.close();
    const larger = await openSqliteStore(path);
    expect((await commitOne(larger, large)).type).toBe("committed");
    await larger.close();
  });

  test("the error for a missing folder names the path", async () => {
    await expect(openSqliteStore(join(dirname(path), "none", "hub.db"))).rejects.toThrow(
      refused(/none\/hub\.db can't be opened: its folder is missing/, 503),
    );
  });

  test("the error for a read-only file names the path", async ({ skip }) => {
    await filled(1);
    chmodSync(path, 0o444);
    chmodSync(dirname(path), 0o555);
    // root may write everything, so another user has to try.
    const other = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
    const entry = fileURLToPath(new URL("./index.ts", import.meta.url));
    const code = `import(${JSON.stringify(entry)}).then(({ openSqliteStore }) => openSqliteStore(${JSON.stringify(path)})).then(() => console.log("opened"), (error) => console.log(error.status, error.message));`;
    const { stdout, error, stderr } = spawnSync(process.execPath, ["-e", code], {
      encoding: "utf8",
      ...other,
    });
    chmodSync(dirname(path), 0o755);
    skip(error !== undefined || /EACCES/.test(stderr), "another user can't read the sources here");
    expect(stdout).toMatch(/^503 The store .*hub\.db can't be (written to|opened)/);
  });
});

describe("sealed segments", () => {
  const segments = () => readdirSync(`${path}-log`);
  const hasSealed = () => expect(segments()).not.toContain("00000001.log");

  test("a segment that is full is compressed when the store is idle, and read, checked, copied as before", async () => {
    const store = await openSqliteStore(path);
    for (let number = 0; number < 60; number++) {
      await commitOne(store, commitOf(number, 1, "x".repeat(5_000)));
    }
    const before = await store.ledger({ limit: 1_000 });
    const reader = await openSqliteReader(path);
    expect(await reader.ledger({ limit: 3 })).toEqual(before.slice(0, 3));
    await vi.waitFor(hasSealed, { timeout: 60_000 });
    expect(segments()).toContain("00000001.sealed");
    expect(await store.ledger({ limit: 1_000 })).toEqual(before);
    expect(await reader.ledger({ limit: 1_000 })).toEqual(before);
    expect(await store.ledgerOf("handoff-5", { limit: 10 })).toEqual([before[5]]);
    await store.check();
    await reader.check();
    await reader.close();
    const to = join(dirname(path), "backup.db");
    await store.backup(to);
    await store.close();
    for (const each of [path, to]) {
      const again = await openSqliteStore(each);
      await again.check();
      expect(await again.ledger({ limit: 1_000 })).toEqual(before);
      expect((await commitOne(again, commitOf(1, 2))).type).toBe("committed");
      await again.close();
    }
  });

  async function openAndCheck(): Promise<void> {
    const store = await openSqliteStore(path);
    try {
      await store.check();
    } finally {
      await store.close();
    }
  }

  test("damage of one is found by a check", async () => {
    const store = await openSqliteStore(path);
    for (let number = 0; number < 60; number++) {
      await commitOne(store, commitOf(number, 1, "x".repeat(5_000)));
    }
    await vi.waitFor(hasSealed, { timeout: 60_000 });
    await store.close();
    const sealed = join(`${path}-log`, "00000001.sealed");
    const bytes = readFileSync(sealed);
    bytes[bytes.length - 20]! ^= 1;
    writeFileSync(sealed, bytes);
    await expect(openAndCheck()).rejects.toThrow(refused(/hub\.db is damaged/));
  });
});

describe("backup", () => {
  test("is a snapshot, taken while commits go on, and opens as a store", async () => {
    const store = await openSqliteStore(path);
    await Promise.all(
      Array.from({ length: 500 }, (_, number) => commitOne(store, commitOf(number))),
    );
    const to = join(dirname(path), "backup.db");
    let isDone = false;
    const backup = store.backup(to).then(() => (isDone = true));
    let version = 1;
    while (!isDone) {
      version++;
      expect((await commitOne(store, commitOf(7, version))).type).toBe("committed");
    }
    await backup;
    await store.close();
    const copy = await openSqliteStore(to);
    await copy.check();
    const entries = await copy.ledger({ limit: 100_000 });
    expect((await verifyLedger(entries)).holds).toBe(true);
    expect(entries.length).toBe(499 + (await copy.handoff("handoff-7"))!.version);
    await copy.close();
  });

  test("never overwrites a file, and leaves nothing if it fails", async () => {
    const store = await openSqliteStore(path);
    await expect(store.backup(path)).rejects.toThrow(refused(/already exists/, 400));
    const folder = join(dirname(path), "sub");
    await expect(store.backup(join(folder, "b.db"))).rejects.toThrow(
      refused(/can't be opened/, 503),
    );
    mkdirSync(folder);
    await store.backup(join(folder, "b.db"));
    expect(existsSync(join(folder, "b.db.part"))).toBe(false);
    await store.close();
    await expect(store.backup(join(folder, "c.db"))).rejects.toThrow(refused(/is closed/, 503));
  });
});
