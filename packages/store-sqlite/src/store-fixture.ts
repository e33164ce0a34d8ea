/// <reference types="node" />
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { inflateRawSync } from "node:zlib";
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

/**
 * The second door: the bytes of the segments, read by code of its own. What is in the ledger by then
 * is a line of JSON in a frame; the newest line of a handoff is the handoff.
 */
function observe(location: string): StoreContents {
  const folder = `${location}-log`;
  const handoffs = new Map<string, StoreContents["handoffs"][number]>();
  const entries: StoreContents["entries"][number][] = [];
  const names = existsSync(folder) ? readdirSync(folder).toSorted() : [];
  for (const bytes of names.map((name) => readFileSync(join(folder, name)))) {
    for (let at = 0; bytes.toString("latin1", at, at + 4) === "\u0001WBL";) {
      const end = at + HEADER_BYTES + bytes.readUInt32BE(at + 8);
      const body = bytes.subarray(at + HEADER_BYTES, end);
      const text = (bytes[at + 4] === SEALED ? inflateRawSync(body) : body).toString("utf8");
      for (const line of text.split("\n").filter((each) => each !== "")) {
        const [type, ...rest] = JSON.parse(line) as [string, ...never[]];
        if (type === "e") entries.push(entryOf(rest));
        if (type === "h") handoffs.set(rest[0]!, handoffOf(rest));
      }
      at = end;
    }
  }
  const byId = [...handoffs.values()].toSorted((one, other) => (one.id < other.id ? -1 : 1));
  return { handoffs: byId, entries };
}

const HEADER_BYTES = 102;
const SEALED = 1;

function entryOf(members: readonly never[]): StoreContents["entries"][number] {
  const [content, sequence, at, type, handoffId, from, id, digest, hash] = members;
  return {
    at: at!,
    handoffId: handoffId!,
    type: type!,
    content: content!,
    digest: digest!,
    replayKey: from === null ? null : { from: from!, id: id! },
    sequence: sequence!,
    hash: hash!,
  };
}

function handoffOf(members: readonly never[]): StoreContents["handoffs"][number] {
  const [id, version, record, state, delegator, correlationId, parentId, ...others] = members;
  const [groupId, wakeAt, waitsFor, waitsAt, session, sessionAt, isDeadLetter, ...inboxes] = others;
  return {
    id: id!,
    version: version!,
    record: record!,
    state: state!,
    delegator: delegator!,
    correlationId: correlationId!,
    parentId: parentId!,
    groupId: groupId!,
    wakeAt: wakeAt!,
    waitsFor: waitsFor!,
    waitsAt: waitsAt!,
    session: session!,
    sessionAt: sessionAt!,
    isDeadLetter: isDeadLetter === 1,
    inboxes,
  };
}
