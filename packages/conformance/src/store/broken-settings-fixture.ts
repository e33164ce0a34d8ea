import { memoryStore } from "@waybill/hub";
import type { Commit, Store } from "@waybill/hub/store";
import { fileDisk } from "./memory-fixture.ts";
import { commitEach, commitOne } from "@waybill/hub/store";

/** Writes the settings of a commit after the rest of it. */
export async function openStore(location: string): Promise<Store> {
  const store = memoryStore({ disk: fileDisk(location) });
  const commit = async ({ settings, ...rest }: Commit) => {
    const outcome = await commitOne(store, rest);
    if (settings === undefined || outcome.type !== "committed") return outcome;
    return commitOne(store, { handoff: null, entries: [], settings });
  };
  return new Proxy(store, {
    get(target, name: keyof Store) {
      if (name === "commit") return (group: readonly Commit[]) => commitEach(group, commit);
      const member = target[name];
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}
