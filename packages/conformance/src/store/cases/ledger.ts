import { deepEqual, equal } from "node:assert/strict";
import { verifyLedger } from "@waybill/hub";
import { EMPTY_LEDGER, commitOne } from "@waybill/hub/store";
import type { LedgerEntry } from "@waybill/hub";
import type { Cases } from "../case.ts";
import { commitAll, inPages } from "../case.ts";
import {
  AT,
  commitOf,
  idOf,
  manifestCommit,
  sampleEntry,
  sampleEnvelope,
  sampleHandoff,
  sampleManifest,
} from "../sample.ts";

/** Seven entries in three commits, about two handoffs and about none. */
const COMMITS = [
  commitOf(sampleHandoff(1), sampleEnvelope(1), sampleEntry("{}", { handoffId: idOf(1) })),
  commitOf(null, ...manifestCommit(sampleManifest("editor", 1)).entries, sampleEnvelope(2)),
  commitOf(
    sampleHandoff(1, { version: 2 }),
    sampleEnvelope(3, { handoffId: idOf(1), at: AT + 1 }),
    sampleEntry("[2]"),
    sampleEntry("[3]", { handoffId: idOf(1) }),
  ),
];
const ENTRIES = COMMITS.flatMap(({ entries }) => entries);

const sequencesOf = (entries: readonly LedgerEntry[]) => entries.map(({ sequence }) => sequence);

export const ledgerCases: Cases = {
  "an empty ledger has the head that every chain begins with": async ({ store }) => {
    deepEqual({ ...(await store.ledgerHead()) }, EMPTY_LEDGER);
    deepEqual([...(await store.ledger({ limit: 10 }))], []);
  },

  "every entry of a commit is in the ledger, in order and to the letter": async ({
    store,
    observe,
  }) => {
    const five = ["{}", "[]", "0", "true", '"five"'].map((content) => sampleEntry(content));
    await commitAll(store, [...COMMITS, commitOf(sampleHandoff(2), ...five)]);
    const expected = [...ENTRIES, ...five];
    const written = (entries: readonly LedgerEntry[]) =>
      entries.map(({ sequence: _sequence, hash: _hash, ...entry }) => entry);
    deepEqual(written((await observe()).entries), expected);
    deepEqual(written(await store.ledger({ limit: 100 })), expected);
  },

  "entries are chained without a gap": async ({ store, observe }) => {
    await commitAll(store, COMMITS);
    const { entries } = await observe();
    deepEqual(
      entries.map(({ sequence }) => sequence),
      entries.map((_, index) => index + 1),
    );
    const report = await verifyLedger(entries);
    equal(report.holds, true, report.holds ? "" : report.message);
  },

  "the head is the last entry": async ({ store, observe }) => {
    for (const commit of COMMITS) {
      await commitAll(store, [commit]);
      const { sequence, hash } = (await observe()).entries.at(-1)!;
      deepEqual({ ...(await store.ledgerHead()) }, { sequence, hash });
    }
  },

  "a commit is told the sequence of its last entry": async ({ store }) => {
    const outcomes = [];
    for (const commit of COMMITS) outcomes.push(await commitOne(store, commit));
    deepEqual(
      outcomes.map((outcome) => outcome.type === "committed" && outcome.lastSequence),
      [2, 4, 7],
    );
  },

  "the ledger is read in pages": async ({ store }) => {
    await commitAll(store, COMMITS);
    const all = await inPages(
      (page: { after?: number; limit: number }) => store.ledger(page),
      ({ sequence }) => sequence,
    );
    deepEqual(sequencesOf(all), [1, 2, 3, 4, 5, 6, 7]);
    deepEqual(sequencesOf(await store.ledger({ after: 5, limit: 10 })), [6, 7]);
    deepEqual(sequencesOf(await store.ledger({ after: 7, limit: 10 })), []);
  },

  "a page of the ledger ends with the text that reaches its characters": async ({ store }) => {
    await commitAll(store, COMMITS);
    const read = async (characters: number) =>
      (await store.ledger({ after: 1, limit: 4, characters })).map(({ sequence }) => sequence);
    const [first, second] = ENTRIES.slice(1).map(({ content }) => content.length);
    deepEqual(await read(1), [2]);
    deepEqual(await read(first!), [2]);
    deepEqual(await read(first! + 1), [2, 3]);
    deepEqual(await read(first! + second! + 1), [2, 3, 4]);
    deepEqual(await read(1_000), [2, 3, 4, 5]);
  },

  "a page of the entries about one handoff ends with the text that reaches its characters": async ({
    store,
  }) => {
    await commitAll(store, COMMITS);
    const read = async (characters: number) =>
      sequencesOf(await store.ledgerOf(idOf(1), { after: 1, limit: 2, characters }));
    deepEqual(await read(1), [2]);
    deepEqual(await read(ENTRIES[1]!.content.length + 1), [2, 5]);
    deepEqual(await read(1_000), [2, 5]);
  },

  "an envelope about a handoff is found by its digest": async ({ store }) => {
    await commitAll(store, COMMITS);
    const { digest } = sampleEnvelope(3);
    equal((await store.envelope(idOf(1), digest))?.sequence, 5);
    equal(await store.envelope(idOf(2), digest), undefined);
    equal(await store.envelope(idOf(1), sampleEntry("{}").digest), undefined);
  },

  "the entries about one handoff are read in pages": async ({ store }) => {
    await commitAll(store, COMMITS);
    const all = await inPages(
      (page: { after?: number; limit: number }) => store.ledgerOf(idOf(1), page),
      ({ sequence }) => sequence,
    );
    deepEqual(sequencesOf(all), [1, 2, 5, 7]);
    deepEqual(sequencesOf(await store.ledgerOf(idOf(2), { limit: 10 })), [4]);
    deepEqual(sequencesOf(await store.ledgerOf(idOf(3), { limit: 10 })), []);
  },
};
