/// <reference types="node" />
import { join } from "node:path";
import { createAgent, loadKey } from "@waybill/agent";
import { ledgerEntries, ledgerHistory, openHub } from "@waybill/hub";
import { SqliteSaver } from "@waybill/langgraph-checkpoint-sqlite";
import { parseEnvelope, readCompact } from "@waybill/protocol";
import { checkHistory } from "@waybill/protocol/audit";
import type { Envelope } from "@waybill/protocol";
import { openSqliteStore } from "@waybill/store-sqlite";
import { jobGraph } from "./graph-fixture.ts";

/** The violations that the processes have left on disk; none if all is well. */
export async function faultsIn(folder: string, topics: readonly string[]): Promise<string[]> {
  const store = await openSqliteStore(join(folder, "hub.db"));
  const hub = await openHub({ store, key: await loadKey(join(folder, "hub.json")) });
  const owner = createAgent({ id: "owner", key: await loadKey(join(folder, "owner.json")), hub });
  const saver = new SqliteSaver(join(folder, "checkpoints.db"));
  const graph = jobGraph(owner, saver, () => undefined);

  const faults: string[] = [];
  const expectSame = (what: string, found: unknown, wanted: unknown) => {
    const [is, was] = [JSON.stringify(found), JSON.stringify(wanted)];
    if (is !== was) faults.push(`${what}: ${is} instead of ${was}`);
  };
  const envelopes: Envelope[] = [];
  for await (const { type, content } of ledgerEntries(store)) {
    if (type === "envelope") envelopes.push(parseEnvelope(readCompact(content).payload));
  }
  for (const topic of topics) {
    const sent = envelopes.flatMap((each) =>
      each.kind === "handoff" && each.body.input === topic ? [each.handoff_id] : [],
    );
    expectSame(`${topic}, times dispatched`, sent.length, 1);
    const ends = envelopes.filter(
      (each) => each.kind === "result" && each.handoff_id === sent[0] && each.body.status === 200,
    );
    expectSame(`${topic}, results`, ends.length, 1);
    expectSame(
      `${topic}, acknowledged`,
      (await hub.handoff(sent[0]!, "owner"))?.isAcknowledged,
      true,
    );
    const { values, next } = await graph.getState({ configurable: { thread_id: topic } });
    expectSame(`${topic}, applied`, values.applied, [`all about ${topic}`]);
    expectSame(`${topic}, left to do`, next, []);
  }
  const history = [];
  for await (const entry of ledgerHistory(store)) history.push(entry);
  faults.push(
    ...checkHistory(history, { hub: hub.id }).violations.map((each) => JSON.stringify(each)),
  );
  await hub.close();
  await store.close();
  saver.close();
  return faults;
}
