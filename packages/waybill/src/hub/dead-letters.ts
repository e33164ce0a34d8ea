import { readHandoffView } from "@waybill/protocol/wire";
import type { HandoffView, WireDeadLetter } from "@waybill/protocol/wire";
import { WaybillError } from "@waybill/protocol";
import type { HubClient } from "./client.ts";
import { suggestion } from "./known.ts";

export async function deadLetter(
  hub: HubClient,
  id: string,
): Promise<WireDeadLetter & { readonly handoff: HandoffView }> {
  const found = (await hub.get(`/v1/dead-letters/${id}`).catch(async (error: unknown) => {
    if (!WaybillError.is(error, 404)) throw error;
    const near = await suggestion(hub, "dead-letters", id);
    const advice = "To see those that there are: waybill dead-letters list";
    const message = `There is no dead letter ${id} at ${hub.url}.${near} ${advice}`;
    throw new WaybillError(404, message, { cause: error });
  })) as WireDeadLetter & {
    readonly handoff: unknown;
    readonly entries: unknown;
  };
  const { entries: _entries, ...letter } = found;
  return { ...letter, handoff: readHandoffView(found.handoff) };
}
