import { deepEqual, equal, rejects } from "node:assert/strict";
import type { Store } from "@waybill/hub";
import { verifyLedger } from "@waybill/hub";
import type { Cases } from "../case.ts";
import { commitAll, idsOf } from "../case.ts";
import {
  commitOf,
  idOf,
  manifestCommit,
  sampleEntry,
  sampleEnvelope,
  sampleHandoff,
  sampleManifest,
} from "../sample.ts";
import type { DurableStoreSubject } from "../subject.ts";
import { commitOne } from "@waybill/hub/store";

/** Every query of a store, so that two states can be compared. */
async function answersOf(store: Store): Promise<unknown> {
  const page = { limit: 100 };
  const [handoff] = await store.deadLetters(page);
  return structuredClone({
    handoff: await store.handoff(idOf(1)),
    due: await store.due(1000, 100),
    nextWakeAt: await store.nextWakeAt(),
    waiting: await store.waiting("agent:a", page),
    inbox: await store.inbox("editor", page),
    correlated: await store.correlated(handoff!.correlationId, page),
    children: await store.children(idOf(71), page),
    group: await store.group("editor", "group", page),
    deadLetters: await store.deadLetters(page),
    ownDeadLetters: await store.deadLetters(page, "editor"),
    ledger: await store.ledger(page),
    ledgerOf: await store.ledgerOf(idOf(1), page),
    envelope: await store.envelope(idOf(1), sampleEnvelope(1).digest),
    head: await store.ledgerHead(),
    seen: await store.seen("editor", sampleEnvelope(1).replayKey!.id),
    manifest: await store.manifest("editor"),
    manifests: await store.manifests("editor", page),
    agents: await store.agents(page),
    key: await store.key("key of editor"),
    offers: await store.offers({}, page),
    capability: await store.capability({ name: "edit", agent: "editor", version: "1" }),
    names: await store.capabilityNames(page),
    setting: await store.setting("key"),
  });
}

export const closingCases: Cases = {
  "an acknowledged commit is visible to others at once": async ({ store, observe }) => {
    for (let number = 1; number <= 20; number++) {
      await commitAll(store, [commitOf(sampleHandoff(number), sampleEnvelope(number))]);
      const { handoffs, entries } = await observe();
      deepEqual(idsOf(handoffs).toSorted().at(-1), idOf(number));
      equal(entries.length, number);
    }
  },

  "a closed store refuses commits": async ({ store }) => {
    await store.close();
    await rejects(commitOne(store, commitOf(sampleHandoff(1))));
    await rejects(store.handoff(idOf(1)));
    await rejects(store.saveSetting("key", "value"));
  },
};

export const durableCases: Cases<DurableStoreSubject> = {
  "closing waits for the commits that are under way": async ({ store, observe }) => {
    const commits = Array.from({ length: 20 }, (_, number) =>
      commitOne(store, commitOf(sampleHandoff(number), sampleEnvelope(number))),
    );
    const closed = store.close();
    for (const { type } of await Promise.all(commits)) equal(type, "committed");
    await closed;
    equal((await observe()).handoffs.length, 20);
  },

  "after closing and opening every answer is the same": async ({ store, reopen }) => {
    const found = {
      waitsFor: "agent:a",
      inboxes: ["editor"],
      parentId: idOf(71),
      groupId: "group",
    };
    const dead = { version: 2, wakeAt: 5, isDeadLetter: true, record: "é".repeat(5000), ...found };
    await commitAll(store, [
      commitOf(sampleHandoff(1, { ...found, wakeAt: 10 }), sampleEnvelope(1)),
      commitOf(sampleHandoff(2, { wakeAt: 20 }), sampleEnvelope(2)),
      commitOf(sampleHandoff(1, dead), sampleEntry("{}", { handoffId: idOf(1) })),
      manifestCommit(sampleManifest("editor", 1, ["edit"])),
      manifestCommit(sampleManifest("editor", 2, ["edit"])),
    ]);
    await store.saveSetting("key", "value");
    const before = await answersOf(store);
    deepEqual(await answersOf(await reopen()), before);
  },

  "after reopening, the chain, the versions and the replay keys continue": async ({
    store,
    reopen,
    observe,
  }) => {
    await commitAll(store, [commitOf(sampleHandoff(1), sampleEnvelope(1))]);
    await commitAll(store, [manifestCommit(sampleManifest("editor", 1))]);
    const opened = await reopen();
    equal(
      (await commitOne(opened, commitOf(sampleHandoff(1), sampleEnvelope(2)))).type,
      "conflict",
    );
    equal(
      (await commitOne(opened, commitOf(sampleHandoff(2), sampleEnvelope(1)))).type,
      "replayed",
    );
    const gap = manifestCommit(sampleManifest("editor", 3));
    equal((await commitOne(opened, gap)).type, "conflict");
    await commitAll(opened, [
      commitOf(sampleHandoff(1, { version: 2 }), sampleEnvelope(2)),
      manifestCommit(sampleManifest("editor", 2)),
    ]);
    const { entries } = await observe();
    equal(entries.length, 4);
    equal((await verifyLedger(entries)).holds, true);
  },
};
