import { httpShapes } from "@waybill/protocol/wire";
import { SOCKET_COSTS } from "../socket/costs.ts";
import { operation } from "./operation.ts";
import type { AnyOperation } from "./operation.ts";

export function envelopeOperations(): readonly AnyOperation[] {
  const { submission, receipt } = httpShapes();
  return [
    operation({
      id: "submitEnvelope",
      method: "POST",
      path: "/v1/envelopes",
      summary:
        "Takes one signed envelope into custody. The response is the hub's receipt for this envelope, sent once it is on disk.",
      cost: SOCKET_COSTS.submit,
      who: "anyone",
      body: submission,
      answer: receipt,
      refusals: [401, 403, 404, 406, 409, 410, 422, 504],
      handle: async ({ served, body }) => ({ receipt: await served.hub.submit(body.envelope) }),
    }),
  ];
}
