import { parseEnvelope, readCompact } from "@waybill/protocol";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Network } from "./served-fixture.ts";

let network: Network;
beforeEach(async () => {
  network = await Network.open();
});
afterEach(() => network.close());

/** The receipts of the hub for an agent, on record. */
async function receiptsFor(agent: string): Promise<string[]> {
  const entries = await network.store.ledger({ limit: 1_000 });
  return entries.flatMap(({ type, content }) => {
    if (type !== "envelope") return [];
    const { kind, from, to } = parseEnvelope(readCompact(content).payload);
    return kind === "receipt" && from === "hub" && to === agent ? [content] : [];
  });
}

test("submissions of one turn are answered by one receipt", async () => {
  const worker = await network.agent("worker");
  worker.serve({ name: "work", concurrency: 100 }, () => "done");
  await worker.start();
  const owner = await network.agent("owner");
  await owner.start();
  const handles = Array.from({ length: 8 }, () =>
    owner.handoff({ to: "worker", capability: "work" }),
  );
  const custodies = await Promise.all(handles.map(({ custody }) => custody));
  const [receipt] = await receiptsFor("owner");
  expect(custodies.map(({ text }) => text)).toEqual(handles.map(() => receipt));
  const results = await Promise.all(handles.map(({ result }) => result));
  expect(results.map(({ output }) => output)).toEqual(handles.map(() => "done"));
  await Promise.all([owner.stop(), worker.stop()]);
  expect((await receiptsFor("worker")).length).toBeLessThan(handles.length);
  expect(await network.violations()).toEqual([]);
});
