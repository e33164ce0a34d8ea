/// <reference types="node" />
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { DurableStoreSubject, StoreContents } from "@waybill/conformance";
import type { Store } from "@waybill/hub";
import { openSqliteStore } from "./sqlite-store.ts";

/** Opened by a process that is to be killed; the suite prescribes the name. */
export function openStore(location: string): Promise<Store> {
  return openSqliteStore(location);
}

/** A path in a new folder. */
export async function locate(): Promise<string> {
  return join(await mkdtemp(join(tmpdir(), "waybill-store-")), "hub.db");
}

export async function remove(location: string): Promise<void> {
  await rm(dirname(location), { recursive: true, force: true });
}

export async function openSubject(): Promise<DurableStoreSubject> {
  const location = await locate();
  let store = await openSqliteStore(location);
  return {
    store,
    observe: async () => observe(location),
    async reopen() {
      await store.close();
      store = await openSqliteStore(location);
      return store;
    },
    async dispose() {
      await store.close();
      await remove(location);
    },
  };
}

/** The second door: another read-only connection, with SQL of its own. */
function observe(location: string): StoreContents {
  const database = new DatabaseSync(location, { readOnly: true });
  try {
    const handoffs = database.prepare(`
      SELECT id, version, record, state, delegator, correlation_id AS correlationId,
        parent_id AS parentId, group_id AS groupId, wake_at AS wakeAt, waits_for AS waitsFor, waits_at AS waitsAt,
        session, session_at AS sessionAt,
        inboxes, is_dead_letter AS isDeadLetter FROM handoff`);
    const entries = database.prepare(`
      SELECT at, handoff_id AS handoffId, type, content, digest, sender, envelope_id, sequence, hash
        FROM ledger ORDER BY sequence`);
    return {
      handoffs: handoffs.all().map(({ inboxes, isDeadLetter, ...row }) => ({
        ...row,
        inboxes: JSON.parse(inboxes as string),
        isDeadLetter: isDeadLetter === 1,
      })) as never,
      entries: entries.all().map(({ sender, envelope_id: id, ...row }) => ({
        ...row,
        replayKey: sender === null ? null : { from: sender, id },
      })) as never,
    };
  } finally {
    database.close();
  }
}
