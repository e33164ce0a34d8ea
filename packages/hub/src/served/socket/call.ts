import {
  readFindQuery,
  readManifestsQuery,
  textOf,
  writeFound,
  writeHandoffView,
  writePublished,
} from "@waybill/protocol/api";
import type { AgentFrame, CallName } from "@waybill/protocol/api";
import type { HubServer } from "../../open-hub.ts";

type Call = Extract<AgentFrame, { type: "call" }>;
type Answer = (hub: HubServer, agent: string, params: Call["params"]) => Promise<unknown>;

/** The frame with the answer to a call. */
export async function answerCall(
  hub: HubServer,
  agent: string | undefined,
  { call, number, params }: Call,
): Promise<string> {
  // A receipt is made of characters that JSON writes as they are.
  if (call === "submit") {
    const receipt = await hub.submit(textOf(params, "envelope"));
    return `{"type":"reply","number":${number},"value":{"receipt":"${receipt}"}}`;
  }
  const value = await ANSWERS[call](hub, agent ?? "", params);
  return JSON.stringify({ type: "reply", number, value });
}

const ANSWERS: Readonly<Record<Exclude<CallName, "submit">, Answer>> = {
  async publish(hub, _agent, params) {
    const { agent, sequence } = await hub.operator.publish(textOf(params, "manifest"));
    return { agent_id: agent, sequence };
  },
  manifests: async (hub, _agent, params) =>
    writePublished(await hub.manifests(readManifestsQuery(params))),
  find: async (hub, agent, params) =>
    writeFound(await hub.operator.search(readFindQuery(params), agent)),
  async handoff(hub, agent, params) {
    const view = await hub.handoff(textOf(params, "id"), agent);
    return { handoff: view === undefined ? null : writeHandoffView(view) };
  },
};
