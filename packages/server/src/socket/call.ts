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
type Answer = (called: Called, agent: string, params: Call["params"]) => Promise<unknown>;

/** The called hub, and its admission policy. */
export interface Called {
  readonly hub: HubServer;
  readonly newcomers: Newcomers;
}

/** The frame with the answer to a call. */
export async function answerCall(
  called: Called,
  agent: string | undefined,
  { call, number, params }: Call,
): Promise<string> {
  // A receipt contains only characters that JSON does not escape.
  if (call === "submit") {
    const receipt = await called.hub.submit(textOf(params, "envelope"));
    return `{"type":"reply","number":${number},"value":{"receipt":"${receipt}"}}`;
  }
  const value = await ANSWERS[call](called, agent ?? "", params);
  return JSON.stringify({ type: "reply", number, value });
}

const ANSWERS: Readonly<Record<Exclude<CallName, "submit">, Answer>> = {
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
