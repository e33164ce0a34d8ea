/// <reference types="node" />
import type { LedgerEntry, Store } from "@waybill/hub";
import { ledgerPages } from "@waybill/hub/serving";
import { httpShapes } from "@waybill/protocol/wire";
import { Lines, NDJSON, operation } from "./operation.ts";
import type { AnyOperation, Pause } from "./operation.ts";

/** A keep-alive line, for proxies that close silent connections. */
const SIGN_OF_LIFE = "\n";

export function ledgerOperations(): readonly AnyOperation[] {
  const { checkpoint, afterSequence } = httpShapes();
  return [
    operation({
      id: "exportLedger",
      method: "GET",
      path: "/v1/ledger",
      summary:
        "The ledger as NDJSON, with every envelope verbatim, and every entry chained to the one before it.",
      cost: "O(1) at a time, as long as it is read: one page of entries is in memory.",
      who: "operator",
      query: afterSequence,
      answer: NDJSON,
      refusals: [],
      handle: ({ served, query: { after } }) =>
        Promise.resolve(new Lines(ledgerPages(served.store, after))),
    }),
    operation({
      id: "getCheckpoint",
      method: "GET",
      path: "/v1/ledger/checkpoint",
      summary: "The hub's signed statement of where its ledger ends now.",
      cost: "O(1): one signature is made.",
      who: "operator",
      answer: checkpoint,
      refusals: [],
      handle: async ({ served }) => ({ checkpoint: await served.hub.operator.checkpoint() }),
    }),
    operation({
      id: "watchLedger",
      method: "GET",
      path: "/v1/watch",
      summary:
        "The new entries of the ledger as they are written, from now on or after an entry: NDJSON, with an empty line from time to time to keep the connection alive.",
      cost: "O(1) at a time, as long as it is read: one page of entries is in memory.",
      who: "operator",
      query: afterSequence,
      answer: NDJSON,
      refusals: [],
      async handle({ served, query, signal }) {
        const after = query.after ?? (await served.store.ledgerHead()).sequence;
        return new Lines(watched(served.store, after, served.limits.pingMs, signal));
      },
    }),
  ];
}

async function* watched(
  store: Store,
  from: number,
  pingMs: number,
  signal: AbortSignal,
): AsyncGenerator<readonly LedgerEntry[] | Pause> {
  let after = from;
  let hasNews = true;
  let wake = () => undefined as void;
  const unsubscribe = store.onCommit(() => {
    hasNews = true;
    wake();
  });
  const stop = () => wake();
  const news = async function* () {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, pingMs);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
      if (hasNews || signal.aborted) wake();
    });
    if (!hasNews && !signal.aborted) yield SIGN_OF_LIFE;
  };
  signal.addEventListener("abort", stop);
  try {
    yield begin;
    while (!signal.aborted) {
      if (hasNews) {
        hasNews = false;
        for await (const entries of ledgerPages(store, after)) {
          after = entries.at(-1)?.sequence ?? after;
          yield entries;
        }
      } else {
        yield news;
      }
    }
  } finally {
    signal.removeEventListener("abort", stop);
    unsubscribe();
  }
}

async function* begin(): AsyncGenerator<string> {
  yield SIGN_OF_LIFE;
}
