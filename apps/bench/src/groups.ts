/// <reference types="node" />
import type { Group } from "./group.ts";

export interface GroupEntry {
  readonly about: string;
  /** Loads the group only on demand, so that its imports don't affect the other groups. */
  load(): Promise<Group>;
}

export const GROUPS: Readonly<Record<string, GroupEntry>> = {
  protocol: {
    about:
      "envelopes, batches, the lifecycle and the import of @waybill/protocol, beside raw crypto",
    load: async () => (await import("./protocol/group.ts")).protocol(),
  },
  custody: {
    about: "a task from one agent to another and back, synced and signed, beside A2A in memory",
    load: async () => (await import("./custody/group.ts")).custody(),
  },
  hub: {
    about: "a task over the network between processes, synced and signed, beside A2A and BullMQ",
    load: async () => (await import("./hub/group.ts")).hub(),
  },
  breadth: {
    about: "a handoff that 1,000 agents could take, and a fan-out of 100, beside lone ones",
    load: async () => (await import("./breadth/group.ts")).breadth(),
  },
  scale: {
    about: "a hub with many handoffs behind it, or open (WAYBILL_SCALE: how many, 100,000)",
    load: async () => {
      const { scale, scaleFrom } = await import("./scale/group.ts");
      return scale(scaleFrom(process.env["WAYBILL_SCALE"]));
    },
  },
};
