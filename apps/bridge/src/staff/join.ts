/// <reference types="node" />
import { join as path } from "node:path";
import { createAgent, loadKey } from "@waybill/agent";
import type { Agent } from "@waybill/agent";
import { connect } from "@waybill/agent/connect";
import type { ConnectedHub } from "@waybill/agent/connect";

/** The arguments of each process of the newsroom. */
export interface Seat {
  readonly id: string;
  readonly hub: string;
  readonly folder: string;
  readonly model: { readonly url: string; readonly name: string };
}

export const seat = JSON.parse(process.env["WAYBILL_SEAT"] ?? "null") as Seat;

/** Attaches to the hub as one agent, and stays until it is told to stop or its parent process is gone. */
export async function join(
  enrol: (agent: Agent, hub: ConnectedHub) => Promise<void> | void,
): Promise<void> {
  const hub = await connect(seat.hub, { timeoutMs: 30_000 });
  const key = await loadKey(path(seat.folder, `${seat.id}.key`));
  const agent = createAgent({ id: seat.id, key, hub });
  await enrol(agent, hub);
  await agent.start();
  process.once("SIGTERM", () => {
    void agent
      .stop()
      .then(() => hub.close())
      .finally(() => process.exit());
  });
  // At a terminal, Ctrl-C goes to all processes; the demo ends them one after the other.
  process.on("SIGINT", () => undefined);
  process.once("disconnect", () => process.exit());
  process.send?.("ready");
}
