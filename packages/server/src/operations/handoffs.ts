import { EntryPages } from "@waybill/hub/serving";
import type { TextPage } from "@waybill/hub/serving";
import { WaybillError } from "@waybill/protocol";
import { httpShapes, shapes, writeHandoffView } from "@waybill/protocol/wire";
import type { Caller } from "../access/caller.ts";
import { EntryPage, Lines, NDJSON, operation } from "./operation.ts";
import type { AnyOperation } from "./operation.ts";

const PAGE = 100;

export function handoffOperations(): readonly AnyOperation[] {
  const { ofHandoff, handoffs, entries, correlated, pageBySequence } = httpShapes();
  return [
    operation({
      id: "listHandoffs",
      method: "GET",
      path: "/v1/handoffs",
      summary: "The handoffs of one job, by id. An agent sees those to which it is a party.",
      cost: "O(limit): one handoff is read for each place of the page, and at most 20 candidates for each that waits; for an agent at most 1,000 handoffs are searched. Envelopes that are no longer in memory are searched among the entries of their handoff.",
      who: "party",
      query: correlated,
      answer: handoffs,
      refusals: [],
      async handle({ served, caller, query: { correlation_id, after, limit = PAGE } }) {
        const found = await served.hub.operator.correlated(
          correlation_id,
          { after, limit },
          asWhom(caller),
        );
        return { handoffs: found.handoffs.map(writeHandoffView), next: found.last };
      },
    }),
    operation({
      id: "getHandoff",
      method: "GET",
      path: "/v1/handoffs/{id}",
      summary: "The state of a handoff, as far as a party to it may know.",
      cost: "O(1): one handoff is read, with its attempts, and at most 20 candidates if it waits. Envelopes that are no longer in memory are searched among the entries of the handoff.",
      who: "party",
      params: ofHandoff,
      answer: shapes().handoffView,
      refusals: [404],
      async handle({ served, caller, params: { id } }) {
        const view = await served.hub.operator.handoff(id, asWhom(caller));
        if (view === undefined) throw unknown(id);
        return writeHandoffView(view);
      },
    }),
    operation({
      id: "getHistory",
      method: "GET",
      path: "/v1/handoffs/{id}/history",
      summary: "All entries of the ledger about a handoff, with every envelope verbatim.",
      cost: "O(limit): one entry is read for each place of the page. A large entry is in memory by itself, small ones with a few others, as fast as the client reads.",
      who: "party",
      params: ofHandoff,
      query: pageBySequence,
      answer: entries,
      alsoLines: true,
      refusals: [404],
      async handle({ served, caller, params: { id }, query, accepts }) {
        const { operator } = served.hub;
        if ((await operator.handoff(id, asWhom(caller))) === undefined) throw unknown(id);
        const { after = 0, limit = PAGE } = query;
        const read = (page: TextPage<number>) => operator.history(id, page);
        const found = new EntryPages(read, after, Math.min(limit, PAGE));
        return accepts(NDJSON) ? new Lines(found) : new EntryPage(found, limit);
      },
    }),
  ];
}

/** An operator sees every handoff. */
export function asWhom(caller: Caller): string | undefined {
  return caller.type === "agent" ? caller.agent : undefined;
}

/** A stranger must not learn whether it exists. */
function unknown(id: string): WaybillError {
  return new WaybillError(404, `There is no handoff ${id} here that the caller is a party to.`);
}
