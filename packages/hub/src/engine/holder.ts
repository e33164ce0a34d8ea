import { sessionHolderOf } from "@waybill/protocol/hub";
import { recordOf } from "../custody/handoff-record.ts";
import type { HandoffRecord } from "../custody/handoff-record.ts";
import type { Store } from "../store.ts";

/**
 * The agent that holds the session of a handoff. It is derived from the handoffs in the store, so
 * that sessions take no memory, however many there are.
 */
export async function holderOf(
  store: Pick<Store, "session">,
  { session, state }: HandoffRecord,
): Promise<string | undefined> {
  if (session === undefined) return undefined;
  const newest = await store.session(session.name, 2);
  const other = newest.find(({ id }) => id !== state.id);
  return other && sessionHolderOf(recordOf(other).record.state);
}
