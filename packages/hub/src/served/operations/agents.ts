import { httpShapes, shapes, writePublished } from "@waybill/protocol/api";
import type { WirePresence } from "@waybill/protocol/api";
import type { Presence } from "../../operator.ts";
import { publishManifest } from "../socket/call.ts";
import { wireTime } from "../wire-time.ts";
import { operation } from "./operation.ts";
import type { AnyOperation } from "./operation.ts";

const PAGE = 100;

export function agentOperations(): readonly AnyOperation[] {
  const { publication, enrolled, presence, presences, ofAgent, pageByAgent } = httpShapes();
  return [
    operation({
      id: "publishManifest",
      method: "PUT",
      path: "/v1/agents/{id}",
      summary: "Publishes what an agent says about itself: its first manifest, or the next one.",
      cost: "O(bytes of the body): one signature for each key that it lists, its schemas compiled, one commit of as many bytes.",
      who: "anyone",
      params: ofAgent,
      body: publication,
      answer: enrolled,
      refusals: [401, 403, 409],
      handle: ({ served, params, body }) => publishManifest(served.hub, body.manifest, params.id),
    }),
    operation({
      id: "listAgents",
      method: "GET",
      path: "/v1/agents",
      summary: "Everybody who is registered, by id: who is connected, and what they offer.",
      cost: "O(limit): one manifest and one setting read for each agent of the page.",
      who: "reader",
      query: pageByAgent,
      answer: presences,
      refusals: [],
      async handle({ served, query: { after, limit = PAGE } }) {
        const page = await served.hub.operator.agents({ after, limit });
        const next = page.length < limit ? undefined : page.at(-1)!.agent;
        return { agents: page.map(writePresence), next };
      },
    }),
    operation({
      id: "getAgent",
      method: "GET",
      path: "/v1/agents/{id}",
      summary: "One agent: whether it is connected, and its newest manifest.",
      cost: "O(1): one manifest and one setting read.",
      who: "reader",
      params: ofAgent,
      answer: presence,
      refusals: [404],
      async handle({ served, params: { id } }) {
        const found = await served.hub.operator.presence(id);
        return { ...writePresence(found), manifest: found.published.text };
      },
    }),
    operation({
      id: "getManifests",
      method: "GET",
      path: "/.well-known/waybill/agents/{id}",
      summary: "Every manifest of an agent, by sequence: whoever checks a signature needs them.",
      cost: "O(manifests of the agent): each is read and sent.",
      who: "anyone",
      params: ofAgent,
      answer: shapes().published,
      refusals: [],
      async handle({ served, params: { id } }) {
        return writePublished(await served.hub.manifests({ agent: id }));
      },
    }),
  ];
}

function writePresence(presence: Presence): WirePresence {
  const { agent, isConnected, lastSeen, credit, inFlight, manifest, published } = presence;
  return {
    agent_id: agent,
    is_connected: isConnected,
    last_seen: lastSeen === null ? null : wireTime(lastSeen),
    credit,
    in_flight: inFlight,
    version: manifest.version,
    description: manifest.description,
    capabilities: manifest.capabilities.map(({ name, version, description, tags }) => ({
      name,
      version,
      description,
      tags,
    })),
    sequence: published.sequence,
    published_at: wireTime(published.at),
  };
}
