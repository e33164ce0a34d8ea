import { deepEqual, equal } from "node:assert/strict";
import { verifyLedger } from "@waybill/hub";
import type { Cases } from "../case.ts";
import { commitAll } from "../case.ts";
import { commitOf, idOf, sampleEntry, sampleEnvelope, sampleHandoff } from "../sample.ts";
import { commitOne } from "@waybill/hub/store";

// Composed and decomposed, right to left, outside the basic plane, and characters that formats escape.
const TEXT = 'e\u0301 é שלום 🧾 𝔘 \u2028 \ufeff \u0000 \u001f "\\ %s \uffff';
const MEBIBYTE = 1024 * 1024;

const HANDOFFS = 250;
const VERSIONS = 8;

export const loadCases: Cases = {
  "every text of Unicode comes back as it was": async ({ store }) => {
    const record = JSON.stringify({ text: TEXT }) + TEXT;
    const handoff = sampleHandoff(1, { record, waitsFor: TEXT, inboxes: [TEXT], groupId: TEXT });
    await commitAll(store, [commitOf(handoff, sampleEntry(TEXT))]);
    await store.saveSetting(TEXT, TEXT);
    deepEqual({ ...(await store.handoff(idOf(1))) }, handoff);
    equal((await store.ledger({ limit: 1 }))[0]?.content, TEXT);
    equal(await store.setting(TEXT), TEXT);
    for (const found of [
      await store.waiting(TEXT, { limit: 1 }),
      await store.inbox(TEXT, { limit: 1 }),
    ]) {
      equal(found.length, 1);
    }
  },

  "a record and an envelope of a mebibyte come back as they were": async ({ store }) => {
    const record = `{"data":"${"é".repeat(MEBIBYTE / 2)}"}`;
    const content = `e30.${"A".repeat(MEBIBYTE)}.c2ln`;
    await commitAll(store, [commitOf(sampleHandoff(1, { record }), sampleEntry(content))]);
    equal((await store.handoff(idOf(1)))?.record === record, true, "the record differs");
    const [entry] = await store.ledger({ limit: 1 });
    equal(entry?.content === content, true, "the envelope differs");
  },

  "thousands of commits at the same time all happen": async ({ store, observe }) => {
    const commits = Array.from({ length: VERSIONS }, (_, index) => index + 1).flatMap((version) =>
      Array.from({ length: HANDOFFS }, (_, number) =>
        commitOf(
          sampleHandoff(number, { version, wakeAt: version, waitsFor: `agent:${version}` }),
          sampleEnvelope(version * HANDOFFS + number, { handoffId: idOf(number) }),
        ),
      ),
    );
    const outcomes = await Promise.all(commits.map((commit) => commitOne(store, commit)));
    equal(outcomes.filter(({ type }) => type !== "committed").length, 0);
    const { handoffs, entries } = await observe();
    equal(handoffs.length, HANDOFFS);
    equal(handoffs.filter(({ version }) => version !== VERSIONS).length, 0);
    equal(entries.length, commits.length);
    equal((await verifyLedger(entries)).holds, true);
    equal((await store.due(VERSIONS + 1, HANDOFFS + 1)).length, HANDOFFS);
    equal((await store.waiting(`agent:${VERSIONS}`, { limit: HANDOFFS + 1 })).length, HANDOFFS);
  },
};
