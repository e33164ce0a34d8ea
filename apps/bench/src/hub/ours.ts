/// <reference types="node" />
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAgent } from "@waybill/agent";
import { connect } from "@waybill/agent/connect";
import { generateKey } from "@waybill/protocol";
import { checkOutput, inputOf } from "../custody/job.ts";
import type { Lane } from "../custody/lane.ts";
import { CAPABILITY } from "../custody/ours.ts";
import { startChild } from "./child.ts";

/** Three processes: a delegator in this one, a served hub over a synced file, and a recipient. */
export async function openServed(transport: "tcp" | "unix"): Promise<Lane> {
  const folder = mkdtempSync(join(tmpdir(), "waybill-bench-"));
  const server = await startChild("serve.ts", folder, transport);
  const recipient = await startChild("receive.ts", server.said);
  const hub = await connect(server.said);
  const delegator = createAgent({ id: "delegator", key: generateKey(), hub });
  await delegator.start();
  const acknowledging = new Set<Promise<void>>();
  return {
    async doOne(index) {
      const input = inputOf(index);
      const handoff = delegator.handoff({ capability: CAPABILITY, input, acknowledge: "manual" });
      await handoff.custody;
      await handoff.accepted;
      const { output } = await handoff.result;
      checkOutput(index, output);
      const acknowledged = handoff.acknowledge();
      acknowledging.add(acknowledged);
      void acknowledged.then(() => acknowledging.delete(acknowledged));
    },
    async settle() {
      while (acknowledging.size > 0) await Promise.all(acknowledging);
    },
    async close() {
      await delegator.stop();
      await hub.close();
      await recipient.stop();
      await server.stop();
      rmSync(folder, { recursive: true });
    },
  };
}
