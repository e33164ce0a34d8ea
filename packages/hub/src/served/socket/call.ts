import { isAgentId, parseJson, readCompact, WaybillError } from "@waybill/protocol";
import {
  readFindQuery,
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
  publish: (hub, _agent, params) => publishManifest(hub, textOf(params, "manifest")),
  async manifests(hub, _agent, params) {
    const query =
      params["agent"] === undefined
        ? { capability: textOf(params, "capability") }
        : { agent: textOf(params, "agent") };
    return writePublished(await hub.manifests(query));
  },
  find: async (hub, _agent, params) => writeFound(await hub.find(readFindQuery(params))),
  async handoff(hub, agent, params) {
    const view = await hub.handoff(textOf(params, "id"), agent);
    return { handoff: view === undefined ? null : writeHandoffView(view) };
  },
};

/** Publishes, and says whose manifest it is now and which in the row. */
export async function publishManifest(
  hub: HubServer,
  manifest: string,
  expected?: string,
): Promise<{ agent_id: string; sequence: number }> {
  const value = parseJson(readCompact(manifest).payload) as Record<string, unknown> | null;
  const agent = value?.["agent_id"];
  if (expected !== undefined && agent !== expected) {
    throw new WaybillError(
      400,
      `The manifest is of ${isAgentId(agent) ? agent : "nobody"}, and this is the place of ${expected}.`,
      { at: "/agent_id" },
    );
  }
  await hub.publish(manifest);
  const { published } = await hub.operator.presence(agent as string);
  return { agent_id: published.agent, sequence: published.sequence };
}
