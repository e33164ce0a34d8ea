import { deepEqual, equal } from "node:assert/strict";
import type { Cases } from "../case.ts";
import { commitAll, idsOf } from "../case.ts";
import {
  commitOf,
  keyCommit,
  idOf,
  manifestCommit,
  sampleEntry,
  sampleEnvelope,
  sampleHandoff,
  sampleManifest,
} from "../sample.ts";
import { commitOne } from "@waybill/hub/store";

const FULL = sampleHandoff(1, {
  state: "dead_lettered",
  parentId: idOf(2),
  groupId: idOf(3),
  wakeAt: 1_760_000_000_123,
  waitsFor: "agent:researcher",
  inboxes: ["editor", "researcher"],
  isDeadLetter: true,
});

export const commitCases: Cases = {
  "a handoff is read back as it was written": async ({ store }) => {
    await commitAll(store, [commitOf(FULL), commitOf(sampleHandoff(2))]);
    deepEqual({ ...(await store.handoff(FULL.id)) }, FULL);
    deepEqual({ ...(await store.handoff(idOf(2))) }, sampleHandoff(2));
  },

  "a later version takes the place of the one before": async ({ store }) => {
    const later = sampleHandoff(1, { version: 2, record: "{}", state: "completed" });
    await commitAll(store, [commitOf(sampleHandoff(1)), commitOf(later)]);
    deepEqual({ ...(await store.handoff(idOf(1))) }, later);
  },

  "what is not there is undefined": async ({ store }) => {
    await commitAll(store, [commitOf(sampleHandoff(1))]);
    equal(await store.handoff(idOf(2)), undefined);
    equal(await store.manifest("editor"), undefined);
    deepEqual([...(await store.manifests("editor", { limit: 10 }))], []);
  },

  "a version that is there already is a conflict": async ({ store }) => {
    await commitAll(store, [
      commitOf(sampleHandoff(1)),
      commitOf(sampleHandoff(1, { version: 2, record: "the second" })),
    ]);
    for (const version of [1, 2]) {
      const late = sampleHandoff(1, { version, record: "too late" });
      deepEqual(await commitOne(store, commitOf(late)), { type: "conflict" });
    }
    equal((await store.handoff(idOf(1)))?.record, "the second");
  },

  "a version that is ahead is a conflict": async ({ store }) => {
    deepEqual(await commitOne(store, commitOf(sampleHandoff(1, { version: 2 }))), {
      type: "conflict",
    });
    await commitAll(store, [commitOf(sampleHandoff(1))]);
    deepEqual(await commitOne(store, commitOf(sampleHandoff(1, { version: 3 }))), {
      type: "conflict",
    });
  },

  "of writers that race for a version exactly one wins": async ({ store }) => {
    for (let version = 1; version <= 5; version++) {
      const outcomes = await Promise.all(
        Array.from({ length: 8 }, (_, writer) =>
          commitOne(store, commitOf(sampleHandoff(1, { version, record: `${writer}` }))),
        ),
      );
      const winners = outcomes.flatMap(({ type }, writer) => (type === "committed" ? writer : []));
      equal(winners.length, 1, `version ${version} was won by the writers ${winners.join(", ")}`);
      equal((await store.handoff(idOf(1)))?.record, `${winners[0]}`);
    }
  },

  "an envelope that was committed before is a replay, with its earlier digest": async ({
    store,
  }) => {
    const first = sampleEnvelope(1);
    const other = sampleEntry("another", { replayKey: first.replayKey });
    await commitAll(store, [commitOf(sampleHandoff(1), first)]);
    const replayed = { type: "replayed", digest: first.digest };
    deepEqual(await commitOne(store, commitOf(sampleHandoff(2), first)), replayed);
    deepEqual(await commitOne(store, commitOf(sampleHandoff(2), other)), replayed);
    // Even if the version does not fit: this is a repetition and not a race.
    deepEqual(await commitOne(store, commitOf(sampleHandoff(1), first)), replayed);
  },

  "one id of two senders is two envelopes": async ({ store }) => {
    const { id } = sampleEnvelope(1).replayKey!;
    const of = (from: string) => commitOf(null, sampleEnvelope(1, { replayKey: { from, id } }));
    await commitAll(store, [of("editor"), of("researcher")]);
  },

  "of envelopes that come at the same time under one id exactly one is taken": async ({
    store,
  }) => {
    const { replayKey } = sampleEnvelope(1);
    const outcomes = await Promise.all(
      Array.from({ length: 8 }, (_, number) =>
        commitOne(store, commitOf(sampleHandoff(number), sampleEntry(`${number}`, { replayKey }))),
      ),
    );
    const taken = outcomes.flatMap(({ type }, number) => (type === "committed" ? number : []));
    equal(taken.length, 1, `the envelopes ${taken.join(", ")} were taken`);
    const { digest } = sampleEntry(`${taken[0]}`);
    for (const outcome of outcomes) {
      if (outcome.type !== "committed") deepEqual(outcome, { type: "replayed", digest });
    }
  },

  "ids of committed envelopes are known, and no others": async ({ store }) => {
    const envelope = sampleEnvelope(1);
    const { from, id } = envelope.replayKey!;
    await commitAll(store, [commitOf(null, sampleEntry("before")), commitOf(null, envelope)]);
    deepEqual(await store.seen(from, id), { digest: envelope.digest, sequence: 2 });
    equal(await store.seen("researcher", id), undefined);
    equal(await store.seen(from, idOf(7)), undefined);
  },

  "a conflict leaves no entry and no manifest behind": async ({ store, observe }) => {
    await commitAll(store, [commitOf(sampleHandoff(1), sampleEnvelope(1))]);
    const late = commitOf(sampleHandoff(1), sampleEnvelope(2), sampleEntry("{}"));
    const manifest = sampleManifest("editor", 1);
    equal((await commitOne(store, { ...late, manifest })).type, "conflict");
    equal((await observe()).entries.length, 1);
    equal(await store.manifest("editor"), undefined);
  },

  "a replay leaves no handoff, no manifest and none of its other entries behind": async ({
    store,
    observe,
  }) => {
    await commitAll(store, [commitOf(sampleHandoff(1), sampleEnvelope(1))]);
    const again = commitOf(sampleHandoff(2), sampleEnvelope(2), sampleEnvelope(1));
    const manifest = sampleManifest("editor", 1);
    equal((await commitOne(store, { ...again, manifest })).type, "replayed");
    const { handoffs, entries } = await observe();
    deepEqual(idsOf(handoffs), [idOf(1)]);
    equal(entries.length, 1);
    equal(await store.manifest("editor"), undefined);
  },

  "a manifest out of sequence leaves no handoff and no entry behind": async ({
    store,
    observe,
  }) => {
    await commitAll(store, [manifestCommit(sampleManifest("editor", 1))]);
    const manifest = sampleManifest("editor", 3);
    const commit = { ...commitOf(sampleHandoff(1), sampleEnvelope(1)), manifest };
    equal((await commitOne(store, commit)).type, "conflict");
    const { handoffs, entries } = await observe();
    equal(handoffs.length, 0);
    equal(entries.length, 1);
  },

  "listeners are notified of every commit that was made, and of no other": async ({ store }) => {
    const heard: [string, string | null, number | undefined][] = [];
    const endings = ["first", "second"].map((name) =>
      store.onCommit((handoff) => heard.push([name, handoff?.id ?? null, handoff?.version])),
    );
    await commitAll(store, [commitOf(sampleHandoff(1)), commitOf(null, sampleEntry("{}"))]);
    equal((await commitOne(store, commitOf(sampleHandoff(1)))).type, "conflict");
    endings[0]!();
    await commitAll(store, [commitOf(sampleHandoff(1, { version: 2 }))]);
    deepEqual(heard, [
      ["first", idOf(1), 1],
      ["second", idOf(1), 1],
      ["first", null, undefined],
      ["second", null, undefined],
      ["second", idOf(1), 2],
    ]);
  },

  "a listener is told whose manifest was in a commit": async ({ store }) => {
    const heard: (string | null)[] = [];
    store.onCommit((_, publisher) => heard.push(publisher));
    await commitAll(store, [
      commitOf(sampleHandoff(1)),
      manifestCommit(sampleManifest("editor", 1)),
      manifestCommit(sampleManifest("researcher", 1)),
      keyCommit("editor", 1, "{}"),
    ]);
    deepEqual(heard, [null, "editor", "researcher", "editor"]);
  },

  "a listener that reads sees the commit it was notified of": async ({ store }) => {
    const seen = new Promise<number | undefined>((resolve, reject) => {
      store.onCommit((handoff) => {
        store.handoff(handoff!.id).then((read) => resolve(read?.version), reject);
      });
    });
    await commitAll(store, [commitOf(sampleHandoff(1))]);
    equal(await seen, 1);
  },

  "a setting is the value that was saved last": async ({ store }) => {
    equal(await store.setting("checkpoint"), undefined);
    await store.saveSetting("checkpoint", "a long first value");
    await store.saveSetting("checkpoint", "two");
    await store.saveSetting("key", "{}");
    equal(await store.setting("checkpoint"), "two");
    equal(await store.setting("key"), "{}");
  },
};
