import type { HubServer } from "@waybill/hub";
import {
  checked,
  httpShapes,
  readFindQuery,
  readManifestsQuery,
  textOf,
  writeFound,
  writeHandoffView,
  writePublished,
} from "@waybill/protocol/wire";
import type { AgentFrame, CallName, Newcomers } from "@waybill/protocol/wire";

type Call = Extract<AgentFrame, { type: "call" }>;
type OtherCall = Exclude<CallName, "submit">;
type Answer = (called: Called, agent: string, params: Call["params"]) => Promise<unknown>;

/** The called hub, and its admission policy. */
export interface Called {
  readonly hub: HubServer;
  readonly newcomers: Newcomers;
}

/** The answer to a call that submits nothing. */
export function answerCall(
  called: Called,
  agent: string | undefined,
  call: OtherCall,
  params: Call["params"],
): Promise<unknown> {
  return ANSWERS[call](called, agent ?? "", params);
}

const ANSWERS: Readonly<Record<OtherCall, Answer>> = {
  async publish({ hub, newcomers }, _agent, params) {
    const { manifest, invitation } = checked(httpShapes().publication, params, "The call");
    const publication = { newcomers, invitation };
    const { agent, sequence } = await hub.operator.publish(manifest, publication);
    return { agent_id: agent, sequence };
  },
  manifests: async ({ hub }, _agent, params) =>
    writePublished(await hub.manifests(readManifestsQuery(params))),
  find: async ({ hub }, agent, params) =>
    writeFound(
      await hub.operator.search(readFindQuery(params), {
        agent,
        kid: hub.operator.kidOf(agent) ?? "",
      }),
    ),
  async handoff({ hub }, agent, params) {
    const view = await hub.handoff(textOf(params, "id"), agent);
    return { handoff: view === undefined ? null : writeHandoffView(view) };
  },
};
