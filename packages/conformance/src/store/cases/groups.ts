import { deepEqual, equal } from "node:assert/strict";
import type { Commit, SettingChange } from "@waybill/hub/store";
import { verifyLedger } from "@waybill/hub";
import type { Cases } from "../case.ts";
import { commitAll, idsOf } from "../case.ts";
import { commitOf, idOf, sampleEntry, sampleEnvelope, sampleHandoff } from "../sample.ts";

const changing = (...settings: SettingChange[]): Commit => ({
  handoff: null,
  entries: [sampleEntry(JSON.stringify(settings))],
  settings,
});

const version = (number: number, record: string): Commit =>
  commitOf(sampleHandoff(1, { version: number, record }), sampleEntry(record));

/** An entry that is only true if the commits at these places of its group are made. */
const depending = (content: string, ...dependsOn: number[]): Commit => ({
  handoff: null,
  entries: [sampleEntry(content)],
  dependsOn,
});

export const groupCases: Cases = {
  "commits of a group that change one handoff are made in their order": async ({ store }) => {
    const group = [version(1, "first"), commitOf(sampleHandoff(2)), version(2, "second")];
    const outcomes = await store.commit(group);
    deepEqual(
      outcomes.map(({ type }) => type),
      ["committed", "committed", "committed"],
    );
    deepEqual(outcomes[2], { type: "committed", lastSequence: 2 });
    equal((await store.handoff(idOf(1)))?.record, "second");
    equal((await store.handoff(idOf(1)))?.version, 2);
    const entries = await store.ledger({ limit: 10 });
    deepEqual(
      entries.map(({ content }) => content),
      ["first", "second"],
    );
    equal((await verifyLedger(entries)).holds, true);
  },

  "a conflict in a group changes nothing about the others": async ({ store, observe }) => {
    await commitAll(store, [commitOf(sampleHandoff(2))]);
    const group = [1, 2, 3].map((number) =>
      commitOf(sampleHandoff(number), sampleEnvelope(number)),
    );
    const outcomes = await store.commit(group);
    deepEqual(
      outcomes.map(({ type }) => type),
      ["committed", "conflict", "committed"],
    );
    const { handoffs, entries } = await observe();
    deepEqual(idsOf(handoffs).toSorted(), [idOf(1), idOf(2), idOf(3)]);
    deepEqual(
      entries.map(({ handoffId }) => handoffId),
      [idOf(1), idOf(3)],
    );
  },

  "a replay in a group changes nothing about the others": async ({ store, observe }) => {
    const known = sampleEnvelope(2);
    await commitAll(store, [commitOf(null, known)]);
    const group = [1, 2, 3].map((number) =>
      commitOf(sampleHandoff(number), number === 2 ? known : sampleEnvelope(number)),
    );
    const [first, second, third] = await store.commit(group);
    equal(first!.type, "committed");
    deepEqual(second, { type: "replayed", digest: known.digest });
    equal(third!.type, "committed");
    const { handoffs, entries } = await observe();
    deepEqual(idsOf(handoffs).toSorted(), [idOf(1), idOf(3)]);
    equal(entries.length, 3);
  },

  "an envelope that occurs twice in a group is taken once, the first time": async ({
    store,
    observe,
  }) => {
    const { replayKey } = sampleEnvelope(1);
    const group = [1, 2].map((number) =>
      commitOf(sampleHandoff(number), sampleEntry(`${number}`, { replayKey })),
    );
    const [first, second] = await store.commit(group);
    equal(first!.type, "committed");
    deepEqual(second, { type: "replayed", digest: sampleEntry("1").digest });
    deepEqual(idsOf((await observe()).handoffs), [idOf(1)]);
  },

  "a commit sees the settings that an earlier one of its group has changed": async ({ store }) => {
    const outcomes = await store.commit([
      changing({ name: "place", from: null, to: "1" }),
      changing({ name: "place", from: "1", to: "2" }),
      changing({ name: "place", from: "1", to: "3" }),
    ]);
    deepEqual(
      outcomes.map(({ type }) => type),
      ["committed", "committed", "conflict"],
    );
    equal(await store.setting("place"), "2");
  },

  "a commit that depends on others of its group is made if they are": async ({ store }) => {
    await commitAll(store, [commitOf(sampleHandoff(1))]);
    const outcomes = await store.commit([
      commitOf(sampleHandoff(1)),
      commitOf(sampleHandoff(2), sampleEnvelope(2)),
      commitOf(sampleHandoff(3), sampleEnvelope(3)),
      depending("the receipt", 1, 2),
    ]);
    deepEqual(
      outcomes.map(({ type }) => type),
      ["conflict", "committed", "committed", "committed"],
    );
    equal((await store.ledger({ limit: 10 })).at(-1)?.content, "the receipt");
  },

  "a commit that depends on one that was not made is a conflict": async ({ store, observe }) => {
    const known = sampleEnvelope(9);
    await commitAll(store, [commitOf(sampleHandoff(1), known)]);
    // A place is counted in its own group, whatever is written with it.
    const [, ...groups] = await Promise.all([
      store.commit([commitOf(sampleHandoff(2)), commitOf(sampleHandoff(3))]),
      store.commit([commitOf(sampleHandoff(1)), depending("after a conflict", 0)]),
      store.commit([
        commitOf(sampleHandoff(4)),
        commitOf(sampleHandoff(5), known),
        depending("after a replay", 0, 1),
      ]),
      store.commit([depending("after nothing", 3)]),
    ]);
    deepEqual(
      groups.map((outcomes) => outcomes.at(-1)),
      groups.map(() => ({ type: "conflict" })),
    );
    const { handoffs, entries } = await observe();
    deepEqual(idsOf(handoffs).toSorted(), [1, 2, 3, 4].map(idOf));
    equal(entries.length, 1);
  },

  "an empty group has no outcomes, and writes nothing": async ({ store }) => {
    deepEqual([...(await store.commit([]))], []);
    equal((await store.ledgerHead()).sequence, 0);
  },

  "listeners are notified of each commit of a group that was made, in order": async ({ store }) => {
    await commitAll(store, [commitOf(sampleHandoff(3))]);
    const heard: string[] = [];
    store.onCommit((handoff) => heard.push(handoff!.id));
    const isLastHeard = new Promise<void>((resolve) => {
      store.onCommit((handoff) => {
        if (handoff!.id === idOf(6)) resolve();
      });
    });
    await store.commit([4, 3, 5].map((number) => commitOf(sampleHandoff(number))));
    await commitAll(store, [commitOf(sampleHandoff(6))]);
    await isLastHeard;
    deepEqual(heard, [idOf(4), idOf(5), idOf(6)]);
  },

  "all of an acknowledged group is visible to others at once": async ({ store, observe }) => {
    for (let start = 1; start < 19; start += 6) {
      const numbers = Array.from({ length: 6 }, (_, index) => start + index);
      await store.commit(
        numbers.map((each) => commitOf(sampleHandoff(each), sampleEnvelope(each))),
      );
      equal((await observe()).handoffs.length, start + 5);
    }
  },
};
