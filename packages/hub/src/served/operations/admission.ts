import { httpShapes } from "@waybill/protocol/api";
import { wireTime } from "../wire-time.ts";
import { operation } from "./operation.ts";
import type { AnyOperation } from "./operation.ts";

const MS = 1_000;

export function admissionOperations(): readonly AnyOperation[] {
  const { newInvitation, invitation, allowed, pinned, ofAgent } = httpShapes();
  return [
    operation({
      id: "invite",
      method: "POST",
      path: "/v1/invitations",
      summary:
        "Makes an invitation: whoever has it may enrol one agent, once, until it runs out. It is told in this answer and never again.",
      cost: "O(1): one commit.",
      who: "operator",
      body: newInvitation,
      answer: invitation,
      refusals: [],
      async handle({ served, body: { agent, expires_seconds: seconds } }) {
        const expiresMs = seconds === undefined ? undefined : Math.ceil(seconds * MS);
        const made = await served.hub.operator.invite({ agent, expiresMs });
        const { id, token, expiresAt } = made;
        return { id, agent, expires_at: wireTime(expiresAt), invitation: token };
      },
    }),
    operation({
      id: "pinKey",
      method: "POST",
      path: "/v1/agents/{id}/pin",
      summary:
        "Gives an agent that has lost its keys another one: its next manifest must be signed by it, and takes the old ones away.",
      cost: "O(1): one commit.",
      who: "operator",
      params: ofAgent,
      body: pinned,
      answer: undefined,
      refusals: [404],
      handle: ({ served, params: { id }, body: { kid } }) => served.hub.operator.pin(id, kid),
    }),
    operation({
      id: "allow",
      method: "POST",
      path: "/v1/allowed",
      summary: "Lets an agent's id, or a key by its thumbprint, enrol without an invitation.",
      cost: "O(1): one commit.",
      who: "operator",
      body: allowed,
      answer: undefined,
      refusals: [],
      handle: ({ served, body: { who } }) => served.hub.operator.allow(who),
    }),
  ];
}
