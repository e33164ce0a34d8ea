import type { Agent, HandoffHandle } from "@waybill/agent";
import { WaybillError } from "@waybill/protocol";

/**
 * The handoff with an id that was kept before sending: found again, or made if the hub never had it.
 * An earlier life's envelope may still be on its way, so a 409 means to look again.
 */
export async function findOrMake(
  agent: Pick<Agent, "attach">,
  id: string,
  make: () => HandoffHandle,
): Promise<HandoffHandle> {
  for (;;) {
    try {
      return await agent.attach(id, { acknowledge: "manual" });
    } catch (error) {
      // 503: the line was cut during the call.
      if (WaybillError.is(error, 503)) continue;
      if (!WaybillError.is(error, 404)) throw error;
    }
    try {
      const handle = make();
      await handle.custody;
      return handle;
    } catch (error) {
      if (!WaybillError.is(error, 409)) throw error;
    }
  }
}

/** Starts an agent as soon as the hub accepts it. */
export async function startAgent(agent: Agent): Promise<void> {
  for (;;) {
    try {
      return await agent.start();
    } catch (error) {
      // The line itself waits until the hub is back.
      if (!WaybillError.is(error, 503)) throw error;
    }
  }
}
