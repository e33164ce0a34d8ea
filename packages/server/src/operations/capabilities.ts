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
        "The names under which something is offered to the caller, and by how many agents; with anything that is looked for, who offers it, the best of the page first, and why not everybody else. Words put those who fit in another order and admit nobody.",
      cost: "O(limit): rows of the page for each way in which the caller may be meant (everybody, its id, its key, each of its at most 16 groups), and with a name their capabilities up to 1 MiB of text, each measured and ranked.",
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
        "Who offers it to the caller, for the very input that is to be handed off: it must fit their schemas. Without a name, all that is offered is looked through page by page.",
      cost: "O(limit): rows of the page for each way in which the caller may be meant, their capabilities up to 1 MiB of text, each measured and ranked, and a bounded number of steps for checking the input against their schemas.",
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
