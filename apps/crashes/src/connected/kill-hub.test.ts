/// <reference types="node" />
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAgent } from "@waybill/agent";
import type { AgentLogEvent } from "@waybill/agent";
import { connect } from "@waybill/agent/connect";
import { ledgerHistory } from "@waybill/hub";
import { generateKey } from "@waybill/protocol";
import { checkHistory } from "@waybill/protocol/audit";
import type { HistoryEntry } from "@waybill/protocol/audit";
import { openSqliteStore } from "@waybill/store-sqlite";
import { expect, test } from "vitest";
import { HubProcess } from "./hub-process.ts";

const COUNT = 100;

/** When the hub is killed: after this many of these events in either agent. */
test.each<[AgentLogEvent["event"], number]>([
  ["custody", 20],
  ["accepted", 20],
  ["finished", 20],
  ["attached", 2],
])("a hub that is killed at %s loses nothing, and its agents come back", async (at, every) => {
  const folder = mkdtempSync(join(tmpdir(), "waybill-"));
  const hub = new HubProcess(folder);
  await hub.start();
  let count = 0;
  const log = ({ event }: AgentLogEvent): void => {
    if (event === at && ++count % every === 0 && count <= 4 * every) hub.restart();
  };
  const lines = [await connect(hub.url), await connect(hub.url)] as const;
  const terms = { lease_seconds: 10, max_attempts: 10 };
  const worker = createAgent({ id: "worker", key: generateKey(), hub: lines[0], credit: 8, log });
  worker.serve<number>({ name: "double", ...terms }, async ({ input, progress }) => {
    await progress({ fraction: 0.5 });
    return 2 * input;
  });
  await worker.start();
  const owner = createAgent({ id: "owner", key: generateKey(), hub: lines[1], log });
  await owner.start();

  const inputs = Array.from({ length: COUNT }, (_, index) => index);
  const outputs = inputs.map(async (input) => {
    // Addressed by name: an agent found by its capability is skipped for a while if the hub counted
    // it as unreachable, which happens if the hub stays away for longer than an offer stands.
    const handoff = owner.handoff({
      to: "worker",
      capability: "double",
      input,
      timeoutMs: 100_000,
    });
    const { output } = await handoff.result;
    await handoff.acknowledge();
    return output;
  });
  expect(await Promise.all(outputs)).toEqual(inputs.map((input) => 2 * input));
  await Promise.all([worker.stop(), owner.stop()]);
  await Promise.all(lines.map((line) => line.close()));
  await hub.stop();
  expect(hub.kills).toBe(4);

  const store = await openSqliteStore(join(folder, "hub.db"));
  const entries: HistoryEntry[] = [];
  for await (const entry of ledgerHistory(store)) entries.push(entry);
  const { violations } = checkHistory(entries, { isComplete: true, hub: "hub" });
  expect(violations).toEqual([]);
  expect(await store.nextWakeAt()).toBeNull();
  await store.close();
  rmSync(folder, { recursive: true });
});
