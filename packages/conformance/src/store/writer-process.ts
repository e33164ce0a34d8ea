/// <reference types="node" />
// A process that writes until it is killed, and says what was acknowledged to it.
import process from "node:process";
import { newId } from "@waybill/protocol";
import type { Store } from "@waybill/hub";
import type { Commit } from "@waybill/hub/store";
import { settingsAt } from "./crash.ts";
import { commitOf, sampleEntry, sampleHandoff } from "./sample.ts";

const VERSIONS = 4;
/** The versions of one group. */
const TOGETHER = 2;

const [module = "", location = "", count = "", lanes = ""] = process.argv.slice(2);
const { openStore } = (await import(module)) as { openStore(location: string): Promise<Store> };
const store = await openStore(location);

let rest = Number(count);
await Promise.all(Array.from({ length: Number(lanes) }, writeInGroups));
await store.close();

async function writeInGroups(): Promise<void> {
  while (rest > 0) {
    const id = newId();
    for (let version = 1; version <= VERSIONS && rest > 0; version += TOGETHER, rest -= TOGETHER) {
      const versions = Array.from({ length: TOGETHER }, (_, index) => version + index);
      const outcomes = await store.commit(versions.map((each) => commitOfVersion(id, each)));
      outcomes.forEach(({ type }, index) => {
        if (type !== "committed") throw new Error(`${id} ${versions[index]}: ${type}`);
        process.stdout.write(`${id} ${versions[index]}\n`);
      });
    }
  }
}

function commitOfVersion(id: string, version: number): Commit {
  const entries = ["first", "second"].map((half) =>
    sampleEntry(`${id} ${version} ${half}`, {
      handoffId: id,
      replayKey: { from: half, id: newId() },
    }),
  );
  const members = { id, version, record: `${id} ${version}`, wakeAt: version };
  const commit = commitOf(sampleHandoff(0, members), ...entries);
  const settings = settingsAt(id, version);
  return settings.length === 0 ? commit : { ...commit, settings };
}
