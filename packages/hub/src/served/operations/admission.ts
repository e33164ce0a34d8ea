import { httpShapes } from "@waybill/protocol/api";
import { wireTime } from "../wire-time.ts";
import { operation } from "./operation.ts";
import type { AnyOperation } from "./operation.ts";

const MS = 1_000;

export function admissionOperations(): readonly AnyOperation[] {
  const { newInvitation, invitation, allowed } = httpShapes();
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
