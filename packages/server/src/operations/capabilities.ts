import type { Search } from "@waybill/hub/serving";
import { shapes, writeFound } from "@waybill/protocol/wire";
import type { WireFound, WireNames, WireSearch } from "@waybill/protocol/wire";
import { viewerOf } from "../access/caller.ts";
import type { Caller } from "../access/caller.ts";
import type { Served } from "../served.ts";
import { operation } from "./operation.ts";
import type { AnyOperation } from "./operation.ts";

const NAMES = 100;

export function capabilityOperations(): readonly AnyOperation[] {
  const { search, searchQuery, found, foundOrNames } = shapes();
  return [
    operation({
      id: "findCapabilities",
      method: "GET",
      path: "/v1/capabilities",
      summary:
        "The names of the capabilities that are offered to the caller, and the number of agents that offer each. With a search, the agents that fit, the best of the page first, and why the others do not. Words change the order of the agents that fit, and add none.",
      cost: "O(limit): rows of the page for each way in which an offer may name the caller (everybody, its id, its key, each of its at most 16 groups), and with a name their capabilities up to 1 MiB of text, each measured and ranked.",
      who: "reader",
      query: searchQuery,
      answer: foundOrNames,
      refusals: [],
      isSearch: true,
      handle: async ({ served, caller, query }) =>
        isBare(query)
          ? names(served, caller, query)
          : writeFound(await served.hub.operator.search(searchOf(query), viewerOf(caller))),
    }),
    operation({
      id: "findForInput",
      method: "POST",
      path: "/v1/capabilities/find",
      summary:
        "The agents that offer it to the caller and accept this input: it must match their schemas. Without a name, all offers are searched page by page.",
      cost: "O(limit): rows of the page for each way in which an offer may name the caller, their capabilities up to 1 MiB of text, each measured and ranked, and a bounded number of steps for checking the input against their schemas.",
      who: "reader",
      body: search,
      answer: found,
      refusals: [],
      isSearch: true,
      handle: async ({ served, caller, body }): Promise<WireFound> =>
        writeFound(await served.hub.operator.search(searchOf(body), viewerOf(caller))),
    }),
  ];
}

async function names(
  { hub }: Served,
  caller: Caller,
  { after, limit = NAMES }: WireSearch,
): Promise<WireNames> {
  const capabilities = await hub.operator.capabilityNames({ after, limit }, viewerOf(caller));
  const next = capabilities.length < limit ? undefined : capabilities.at(-1)!.name;
  return { capabilities, next };
}

/** Whether there is no query: then only the names are listed. */
function isBare({ after: _after, limit: _limit, ...wanted }: WireSearch): boolean {
  return Object.values(wanted).every((each) => each === undefined);
}

function searchOf({ min_reliability: minReliability, ...rest }: WireSearch): Search {
  return { ...rest, minReliability };
}
