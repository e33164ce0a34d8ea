import { shapes, writeFound } from "@waybill/protocol/api";
import type { WireSearch } from "@waybill/protocol/api";
import type { Search } from "../../operator.ts";
import { operation } from "./operation.ts";
import type { AnyOperation } from "./operation.ts";

export function capabilityOperations(): readonly AnyOperation[] {
  const { search, searchQuery, found } = shapes();
  return [
    operation({
      id: "findCapabilities",
      method: "GET",
      path: "/v1/capabilities",
      summary:
        "Who offers it, best first, and why not everybody else. Words put those who fit in another order and admit nobody.",
      cost: "O(candidates of the capability): each is measured and ranked.",
      who: "reader",
      query: searchQuery,
      answer: found,
      refusals: [],
      handle: async ({ served, query }) =>
        writeFound(await served.hub.operator.search(searchOf(query))),
    }),
    operation({
      id: "findForInput",
      method: "POST",
      path: "/v1/capabilities/find",
      summary: "The same for the very input that is to be handed off: it must fit their schemas.",
      cost: "O(candidates of the capability), and a bounded number of steps for checking the input against their schemas.",
      who: "reader",
      body: search,
      answer: found,
      refusals: [],
      handle: async ({ served, body }) =>
        writeFound(await served.hub.operator.search(searchOf(body))),
    }),
  ];
}

function searchOf({ min_reliability: minReliability, ...rest }: WireSearch): Search {
  return { ...rest, minReliability };
}
