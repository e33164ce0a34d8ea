import { formatTime, httpShapes } from "@waybill/protocol/wire";
import { operation } from "./operation.ts";
import type { AnyOperation } from "./operation.ts";

const MS = 1_000;
const PAGE = 100;

export function admissionOperations(): readonly AnyOperation[] {
  const { newInvitation, invitation, invitations, ofInvitation, pageByInvitation, ...shapes } =
    httpShapes();
  const { allowed, pinned, ofAgent } = shapes;
  return [
    operation({
      id: "invite",
      method: "POST",
      path: "/v1/invitations",
      summary:
        "Creates an invitation: its holder may enrol one agent, once, until it expires. Only this response contains it.",
      cost: "O(1): one commit.",
      who: "operator",
      body: newInvitation,
      answer: invitation,
      refusals: [],
      async handle({ served, body: { agent, expires_seconds: seconds } }) {
        const expiresMs = seconds === undefined ? undefined : Math.ceil(seconds * MS);
        const made = await served.hub.operator.invite({ agent, expiresMs });
        const { id, token, expiresAt } = made;
        return { id, agent, expires_at: formatTime(expiresAt), invitation: token };
      },
    }),
    operation({
      id: "listInvitations",
      method: "GET",
      path: "/v1/invitations",
      summary:
        "The invitations that are not revoked, by id: for which agent, until when, and the agent that was admitted by each. Their secrets are never shown.",
      cost: "O(limit): the settings of the page.",
      who: "operator",
      query: pageByInvitation,
      answer: invitations,
      refusals: [],
      async handle({ served, query: { after, limit = PAGE } }) {
        const page = await served.hub.operator.invitations({ after, limit });
        const next = page.length < limit ? undefined : page.at(-1)!.id;
        return {
          invitations: page.map(({ id, agent, expiresAt, usedBy }) => ({
            id,
            agent,
            expires_at: formatTime(expiresAt),
            used_by: usedBy,
          })),
          next,
        };
      },
    }),
    operation({
      id: "revokeInvitation",
      method: "POST",
      path: "/v1/invitations/{id}/revoke",
      summary: "Revokes an invitation that nobody has used.",
      cost: "O(1): one commit.",
      who: "operator",
      params: ofInvitation,
      answer: undefined,
      refusals: [404, 409],
      handle: ({ served, params: { id } }) => served.hub.operator.revoke(id),
    }),
    operation({
      id: "pinKey",
      method: "POST",
      path: "/v1/agents/{id}/pin",
      summary:
        "Pins a new key to an agent that has lost its keys, or was retired: its old keys are refused from now on, and its next manifest must be signed with the new one.",
      cost: "O(1): one commit.",
      who: "operator",
      params: ofAgent,
      body: pinned,
      answer: undefined,
      refusals: [404, 409],
      handle: ({ served, params: { id }, body: { kid } }) => served.hub.operator.pin(id, kid),
    }),
    operation({
      id: "retireAgent",
      method: "POST",
      path: "/v1/agents/{id}/retire",
      summary:
        "Retires an agent: its keys are refused, and it takes no work. Work that waits for it goes to others or ends; its own handoffs continue.",
      cost: "O(capabilities of the agent): one commit. Work that waits for it is matched again afterwards, one handoff at a time.",
      who: "operator",
      params: ofAgent,
      answer: undefined,
      refusals: [403, 404],
      handle: ({ served, params: { id } }) => served.hub.operator.retire(id),
    }),
    operation({
      id: "allow",
      method: "POST",
      path: "/v1/allowed",
      summary: "Allows an agent id, or the thumbprint of a key, to enrol without an invitation.",
      cost: "O(1): one commit.",
      who: "operator",
      body: allowed,
      answer: undefined,
      refusals: [],
      handle: ({ served, body: { who } }) => served.hub.operator.allow(who),
    }),
  ];
}
