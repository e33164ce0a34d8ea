import type { Group } from "./group.ts";

export interface GroupEntry {
  readonly about: string;
  /** Loads the group only when it is asked for: what it imports must not weigh on the others. */
  load(): Promise<Group>;
}

export const GROUPS: Readonly<Record<string, GroupEntry>> = {
  protocol: {
    about:
      "envelopes, batches, the lifecycle and the import of @waybill/protocol, beside raw crypto",
    load: async () => (await import("./protocol/group.ts")).protocol(),
  },
};
