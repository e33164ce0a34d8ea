/// <reference types="node" />
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openHub } from "@waybill/hub";
import type { HubServer } from "@waybill/hub";
import {
  createHandoff,
  generateKey,
  signEnvelope,
  signManifest,
  WaybillError,
} from "@waybill/protocol";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openSqliteStore } from "./sqlite-store.ts";
import type { SqliteStore } from "./sqlite-store.ts";

const hubKey = generateKey();
const keys = { worker: generateKey(), anna: generateKey(), ben: generateKey() };

let folder: string;
let store: SqliteStore;
let hub: HubServer;

async function open(): Promise<void> {
  store = await openSqliteStore(join(folder, "hub.db"));
  hub = await openHub({ store, key: hubKey, id: "hub" });
}

async function close(): Promise<void> {
  await hub.close();
  await store.close();
}

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "waybill-quotas-"));
  await open();
  for (const [id, key] of Object.entries(keys)) {
    const capabilities = id === "worker" ? [{ name: "work", from: { groups: ["g"] } }] : [];
    await hub.publish(signManifest({ agent_id: id, capabilities }, key));
  }
  await hub.operator.changeGroup("g", { add: ["anna", "ben"] });
});

afterEach(async () => {
  await close();
  rmSync(folder, { recursive: true });
});

/** Hands off that often at once, and returns the answers. */
async function submit(from: "anna" | "ben", count: number): Promise<number[]> {
  const texts = Array.from({ length: count }, () =>
    signEnvelope(
      createHandoff({
        from,
        domain: hub.domain,
        to: "worker",
        timeoutMs: 60_000,
        body: { capability: "work" },
      }),
      keys[from],
    ),
  );
  return Promise.all(
    texts.map((text) =>
      hub.submit(text).then(
        () => 100,
        (error: unknown) => WaybillError.from(error).status,
      ),
    ),
  );
}

const taken = (statuses: readonly number[]) => statuses.filter((status) => status === 100).length;

test("WB-214 groups and the use of their quotas survive a restart of the hub", async () => {
  await hub.operator.setQuota("g", { open: 100, per_minute: 5 });
  expect(taken(await submit("anna", 2))).toBe(2);
  await close();
  await open();
  expect((await hub.operator.group("g")).members).toEqual(["anna", "ben"]);
  const statuses = [...(await submit("ben", 4)), ...(await submit("anna", 4))];
  expect(taken(statuses)).toBe(3);
  expect(statuses.filter((status) => status !== 100)).toEqual([301, 301, 301, 301, 301]);
  await close();
  await open();
  expect(taken(await submit("ben", 4))).toBe(0);
  await hub.operator.setQuota("g", { open: 7 });
  expect(taken(await submit("ben", 4))).toBe(2);
});

test("WB-214 a handoff that the store has failed to write uses up no quota", async () => {
  await hub.operator.setQuota("g", { open: 2, per_minute: 2 });
  const commit = store.commit.bind(store);
  store.commit = () => Promise.reject(new WaybillError(503, "The disk is away."));
  expect(await submit("anna", 2)).toEqual([503, 503]);
  store.commit = commit;
  expect(taken(await submit("anna", 1))).toBe(1);
  expect(taken(await submit("ben", 3))).toBe(1);
});
