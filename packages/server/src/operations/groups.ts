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
        "The groups that operators have made, by name, each with its quota and the first of its members.",
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
        "Puts agents into a group, which is made with its first member, and takes others out. Capabilities name groups in from.",
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
        "Says how many handoffs the members of a group may have open at once, and submit in a minute, all of them together. What is left out is not limited.",
      cost: "O(1): one commit of one group; where a quota for a minute is lifted, the at most 10,000 settings of it.",
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
      summary: "Takes a group away, with its quota: it fits nobody from then on.",
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
