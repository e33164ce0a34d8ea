/// <reference types="node" />
import { dirname } from "node:path";
import { rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { openHub } from "@waybill/hub";
import { digestOfJws, generateKey, provenKey, signManifest } from "@waybill/protocol";
import type { ManifestInput, PrivateKey } from "@waybill/protocol";
import { afterEach, beforeEach, expect, test } from "vitest";
import { migrate } from "./migrate.ts";
import { MIGRATIONS } from "./schema.ts";
import { openSqliteStore } from "./sqlite-store.ts";
import { locate } from "./store-fixture.ts";

const ENROLMENTS = 60;

let path: string;
beforeEach(async () => {
  path = await locate();
});
afterEach(() => rmSync(dirname(path), { recursive: true, force: true }));

function manifestOf(id: string, key: PrivateKey, members: Partial<ManifestInput> = {}): string {
  return signManifest({ agent_id: id, capabilities: [{ name: "work" }], ...members }, key);
}

test("49: of concurrent enrolments at two hubs that list one key, exactly one succeeds", async () => {
  const store = await openSqliteStore(path);
  const own = generateKey();
  const hubs = [await openHub({ store, key: own }), await openHub({ store, key: own })];
  const key = generateKey();
  const outcomes = await Promise.allSettled(
    Array.from({ length: ENROLMENTS }, (_, index) =>
      hubs[index % 2]!.publish(manifestOf(`agent-${index}`, key)),
    ),
  );
  const enrolled = outcomes.flatMap(({ status }, index) =>
    status === "fulfilled" ? [`agent-${index}`] : [],
  );
  expect(enrolled).toHaveLength(1);
  for (const outcome of outcomes) {
    if (outcome.status === "rejected") expect(outcome.reason).toMatchObject({ status: 409 });
  }
  expect((await store.key(key.kid))?.agent).toBe(enrolled[0]);
  for (const hub of hubs) await hub.close();
  await store.close();
});

test("manifests in a file of the second version are found by their keys and capabilities", async () => {
  const [first, second, other] = [generateKey(), generateKey(), generateKey()];
  const one = manifestOf("owner", first, { capabilities: [{ name: "old" }, { name: "work" }] });
  const keys = [provenKey("owner", second)];
  const follows = { sequence: 2, previous: digestOfJws(one), keys };
  const two = manifestOf("owner", first, follows);
  const lone = manifestOf("another", other);
  const database = new DatabaseSync(path);
  migrate(database, MIGRATIONS.slice(0, 2));
  const insert = database.prepare("INSERT INTO manifest VALUES (?, ?, ?, ?, ?, '[]', ?)");
  insert.run("owner", 1, 0, 1_000, digestOfJws(one), one);
  insert.run("owner", 2, 1, 2_000, digestOfJws(two), two);
  insert.run("another", 1, 1, 3_000, digestOfJws(lone), lone);
  database.close();

  const store = await openSqliteStore(path);
  const hub = await openHub({ store, key: generateKey() });
  const { fits } = await hub.find({ capability: "work" });
  expect(fits.map(({ agent_id: agent }) => agent)).toEqual(["another", "owner"]);
  expect(await store.capabilityNames({ limit: 10 })).toEqual([{ name: "work", agents: 2 }]);
  expect(await hub.operator.keyOf(first.kid, "owner")).toMatchObject({ notAfter: 2_000 });
  const squat = hub.publish(manifestOf("squatter", first));
  await expect(squat).rejects.toMatchObject({ status: 409 });
  const three = { sequence: 3, previous: digestOfJws(two), keys: [second.jwk] };
  await hub.publish(manifestOf("owner", second, { ...three, capabilities: [{ name: "new" }] }));
  expect(await store.capabilityNames({ limit: 10 })).toEqual([
    { name: "new", agents: 1 },
    { name: "work", agents: 1 },
  ]);
  await hub.close();
  await store.check();
  await store.close();
});

test("a key that was modified in the file is detected", async () => {
  const store = await openSqliteStore(path);
  const hub = await openHub({ store, key: generateKey() });
  const key = generateKey();
  await hub.publish(manifestOf("owner", key));
  await hub.close();
  await store.close();
  const database = new DatabaseSync(path);
  database.exec("UPDATE agent_key SET agent = 'thief' WHERE agent = 'owner'");
  database.close();
  const again = await openSqliteStore(path);
  await expect(again.key(key.kid)).rejects.toMatchObject({ status: 500 });
  await expect(again.check()).rejects.toMatchObject({ status: 500 });
  await again.close();
});
