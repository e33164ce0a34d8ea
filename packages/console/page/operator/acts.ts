import { WaybillError } from "@waybill/protocol";
import type { HandoffEnvelope } from "@waybill/protocol";
import { discardPath } from "@waybill/protocol/wire";
import type { WireHandoffView } from "@waybill/protocol/wire";
import { payloadOf } from "../hub/handoffs.ts";
import { get, post } from "../hub/hub.ts";
import { proofBy } from "../trust/browser-key.ts";
import type { Post, Retry } from "../trust/post.ts";
import type { Outcome } from "./bulk.ts";
import type { OperatorKey } from "./key.ts";
import { replayId, replayOf } from "./replay.ts";
import type { Changes } from "./replay.ts";

/** Discards a dead letter; the request, with its reason, is signed by the operators' agent. */
export async function discard(key: OperatorKey, id: string, reason: string): Promise<Outcome> {
  await post(discardPath(id), { reason }, proofBy(key));
  return "done";
}

/** The handoff as its delegator has signed it: an operator signs nothing that a hub has made up. */
export async function originalOf(id: string, by: Post): Promise<HandoffEnvelope> {
  const view = await get<WireHandoffView>(`/v1/handoffs/${id}`);
  const { from } = payloadOf(view.envelope);
  const { envelope } = await by.verifyReceived(view.envelope, from, view);
  if (envelope.kind === "handoff" && envelope.handoff_id === id) return envelope;
  throw new WaybillError(
    401,
    `The hub shows another envelope for ${id} than the handoff of this id. Do not rely on it.`,
  );
}

/** Hands the work of a dead letter off again, once. */
export async function replay(
  by: Post,
  original: HandoffEnvelope,
  changes: Changes,
  retry?: Retry,
): Promise<Outcome> {
  const { handoff_id: id } = original;
  const path = `/v1/dead-letters/${id}/replay`;
  try {
    await by.submit(replayOf(original, by.who, changes), { path, retry });
    return "done";
  } catch (error) {
    // 409: this operator has replayed it, or a replay has another id.
    if (WaybillError.is(error, 409)) return "before";
    // 403: another operator's replay may have the id.
    if (WaybillError.is(error, 403) && (await isTaken(replayId(id)))) return "before";
    throw error;
  }
}

async function isTaken(id: string): Promise<boolean> {
  try {
    await get(`/v1/handoffs/${id}`);
    return true;
  } catch (error) {
    if (WaybillError.is(error, 404)) return false;
    throw error;
  }
}
