import type { Presence, PresenceDetail } from "@waybill/hub";
import {
  defaultNewcomers,
  formatTime,
  httpShapes,
  shapes,
  writePublished,
} from "@waybill/protocol/wire";
import type { WirePresence } from "@waybill/protocol/wire";
import { viewerOf } from "../access/caller.ts";
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
      summary: "Publishes a manifest of an agent: its first, or the next one.",
      cost: "O(bytes of the body): verifies one signature for each key that it lists, compiles its schemas, and commits as many bytes. For a newcomer that is not admitted, two settings are read.",
      who: "anyone",
      params: ofAgent,
      body: publication,
      answer: enrolled,
      refusals: [401, 403, 409],
      isPublication: true,
      async handle({ served, isLocal, params, body }) {
        const { agent, sequence } = await served.hub.operator.publish(body.manifest, {
          agent: params.id,
          newcomers: served.newcomers ?? defaultNewcomers({ isLocal }),
          invitation: body.invitation,
        });
        return { agent_id: agent, sequence };
      },
    }),
    operation({
      id: "listAgents",
      method: "GET",
      path: "/v1/agents",
      summary:
        "The registered agents, by id: whether they are connected, and the first names of the capabilities that they offer to the caller.",
      cost: "O(limit): for each agent of the page one row of its newest manifest, the first 20 names that it offers, and one setting.",
      who: "reader",
      query: pageByAgent,
      answer: presences,
      refusals: [],
      async handle({ served, caller, query: { after, limit = PAGE } }) {
        const page = await served.hub.operator.agents({ after, limit }, viewerOf(caller));
        const next = page.length < limit ? undefined : page.at(-1)!.agent;
        return { agents: page.map(writePresence), next };
      },
    }),
    operation({
      id: "getAgent",
      method: "GET",
      path: "/v1/agents/{id}",
      summary:
        "One agent: whether it is connected, everything that it offers to the caller, and its complete newest manifest.",
      cost: "O(1): one manifest, its at most 256 capabilities without their texts, and one setting.",
      who: "reader",
      params: ofAgent,
      answer: presence,
      refusals: [404],
      async handle({ served, caller, params: { id } }) {
        const found = await served.hub.operator.presence(id, viewerOf(caller));
        const { version, description, manifest } = found;
        return { ...writePresence(found), version, description, manifest };
      },
    }),
    operation({
      id: "getManifests",
      method: "GET",
      path: "/.well-known/waybill/agents/{id}",
      summary:
        "The manifests of an agent, by sequence and page by page, or only the newest. They are needed to verify signatures.",
      cost: "O(limit): manifests of the page, of which the last is the one that reaches 1 MiB of text.",
      who: "anyone",
      params: ofAgent,
      query: shapes().manifestsPage,
      answer: shapes().published,
      refusals: [],
      handle: async ({ served, params: { id }, query }) =>
        writePublished(await served.hub.manifests({ agent: id, ...query })),
    }),
  ];
}

function writePresence(presence: Presence | PresenceDetail): WirePresence {
  const { lastSeen } = presence;
  return {
    agent_id: presence.agent,
    is_connected: presence.isConnected,
    last_seen: lastSeen === null ? null : formatTime(lastSeen),
    credit: presence.credit,
    in_flight: presence.inFlight,
    capabilities: presence.capabilities,
    capability_count: presence.capabilityCount,
    sequence: presence.sequence,
    published_at: formatTime(presence.publishedAt),
    ...(presence.isRetired && { is_retired: true }),
  };
}
