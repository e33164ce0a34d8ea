import type { NamedGroup } from "@waybill/hub";
import { httpShapes } from "@waybill/protocol/wire";
import type { WireGroup } from "@waybill/protocol/wire";
import { operation } from "./operation.ts";
import type { AnyOperation } from "./operation.ts";

const PAGE = 100;
/** How many members of a group a list shows. */
const MEMBERS_LISTED = 20;

export function groupOperations(): readonly AnyOperation[] {
  const { group, groups, groupChange, quota, ofGroup, pageByGroup } = httpShapes();
  return [
    operation({
      id: "listGroups",
      method: "GET",
      path: "/v1/groups",
      summary:
        "The groups that operators have created, by name, each with its quota and the first of its members.",
      cost: "O(limit): groups of the page, which are in memory, with 20 members each.",
      who: "operator",
      query: pageByGroup,
      answer: groups,
      refusals: [],
      async handle({ served, query: { after, limit = PAGE } }) {
        const page = await served.hub.operator.groups({ after, limit });
        const next = page.length < limit ? undefined : page.at(-1)!.name;
        return { groups: page.map((each) => writeGroup(each, MEMBERS_LISTED)), next };
      },
    }),
    operation({
      id: "getGroup",
      method: "GET",
      path: "/v1/groups/{name}",
      summary: "One group, with all of its members.",
      cost: "O(1): one group, which is in memory, with its at most 1,000 members.",
      who: "operator",
      params: ofGroup,
      answer: group,
      refusals: [404],
      handle: async ({ served, params: { name } }) =>
        writeGroup(await served.hub.operator.group(name)),
    }),
    operation({
      id: "changeGroup",
      method: "POST",
      path: "/v1/groups/{name}/members",
      summary:
        "Adds agents to a group, which is created with its first member, and removes others. Capabilities name groups in from.",
      cost: "O(1): one commit of one group, with its at most 1,000 members.",
      who: "operator",
      params: ofGroup,
      body: groupChange,
      answer: undefined,
      refusals: [404, 413],
      handle: ({ served, params: { name }, body }) => served.hub.operator.changeGroup(name, body),
    }),
    operation({
      id: "setQuota",
      method: "POST",
      path: "/v1/groups/{name}/quota",
      summary:
        "Sets how many handoffs all members of a group together may have open at once, and submit in a minute. A number that is omitted is not limited.",
      cost: "O(1): one commit of one group; if a quota for a minute is lifted, its at most 10,000 settings.",
      who: "operator",
      params: ofGroup,
      body: quota,
      answer: undefined,
      refusals: [413],
      handle: ({ served, params: { name }, body }) => served.hub.operator.setQuota(name, body),
    }),
    operation({
      id: "removeGroup",
      method: "POST",
      path: "/v1/groups/{name}/remove",
      summary: "Removes a group with its quota: from then on it has no members.",
      cost: "O(1): one commit, and the at most 10,000 settings of its quota for a minute.",
      who: "operator",
      params: ofGroup,
      answer: undefined,
      refusals: [404],
      handle: ({ served, params: { name } }) => served.hub.operator.removeGroup(name),
    }),
  ];
}

function writeGroup({ name, members, quota }: NamedGroup, most: number = Infinity): WireGroup {
  return { name, members: members.slice(0, most), member_count: members.length, quota };
}
