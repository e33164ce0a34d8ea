import { readHandoffView } from "@waybill/protocol/api";
import type { HandoffView, WireDeadLetter } from "@waybill/protocol/api";
import type { HubClient } from "./client.ts";

export async function deadLetter(
  hub: HubClient,
  id: string,
): Promise<WireDeadLetter & { readonly handoff: HandoffView }> {
  const found = (await hub.get(`/v1/dead-letters/${id}`)) as WireDeadLetter & {
    readonly handoff: unknown;
    readonly entries: unknown;
  };
  const { entries: _entries, ...letter } = found;
  return { ...letter, handoff: readHandoffView(found.handoff) };
}
