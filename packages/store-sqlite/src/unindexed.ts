import type {
  LedgerEntry,
  NewManifest,
  SeenEnvelope,
  StoredHandoff,
  StoredKey,
} from "@waybill/hub/store";
import type { CommitView } from "@waybill/hub/store-thread";
import type { Digest } from "@waybill/protocol";
import type { Line } from "./log/line.ts";
import type { HandoffFamily, Reader } from "./reader.ts";
import { sortedNames } from "./row.ts";

/** What is known about a handoff, besides its version. */
export interface FrameView extends CommitView {
  familyOf(handoffId: string): HandoffFamily | undefined;
}

interface Since<Value> {
  readonly frame: number;
  readonly value: Value;
}

/** The newest value of each key, and in which frame it was written. */
class Newest<Value> {
  readonly #values = new Map<string, Since<Value>>();
  readonly #written: { readonly frame: number; readonly key: string }[] = [];
  #dropped = 0;

  set(frame: number, key: string, value: Value): void {
    this.#values.set(key, { frame, value });
    this.#written.push({ frame, key });
  }

  get(key: string): Since<Value> | undefined {
    return this.#values.get(key);
  }

  drop(frame: number): void {
    while ((this.#written[this.#dropped]?.frame ?? Infinity) <= frame) {
      const { key } = this.#written[this.#dropped++]!;
      if ((this.#values.get(key)?.frame ?? Infinity) <= frame) this.#values.delete(key);
    }
    if (this.#dropped * 2 < this.#written.length) return;
    this.#written.splice(0, this.#dropped);
    this.#dropped = 0;
  }
}

/** What is on disk in the log and not in the index yet: it is looked up here first. */
export class Unindexed {
  readonly handoffs: Newest<StoredHandoff> = new Newest();
  readonly keys: Newest<StoredKey> = new Newest();
  readonly settings: Newest<string | null> = new Newest();
  /** The sequence of each agent's newest manifest, for agents that changed anything. */
  readonly agents: Newest<number> = new Newest();
  readonly #seen: Newest<SeenEnvelope> = new Newest();
  readonly #envelopes: Newest<LedgerEntry> = new Newest();

  add(frame: number, line: Line): void {
    switch (line.type) {
      case "entry":
        return this.#addEntry(frame, line.entry);
      case "handoff":
        return this.#addHandoff(frame, line.handoff);
      case "manifest":
        return this.#addManifest(frame, line.manifest);
      case "keys": {
        const { agent, sequence, keys } = line.keys;
        this.agents.set(frame, agent, sequence);
        for (const { kid, record } of keys) this.keys.set(frame, kid, { kid, agent, record });
        return;
      }
      case "setting":
        this.settings.set(frame, line.setting.name, line.setting.to);
    }
  }

  /** Forgets what is in the index now. */
  drop(frame: number): void {
    const { handoffs, keys, settings, agents } = this;
    for (const each of [handoffs, keys, settings, agents, this.#seen, this.#envelopes]) {
      each.drop(frame);
    }
  }

  seen(from: string, id: string): SeenEnvelope | undefined {
    return this.#seen.get(pairOf(from, id))?.value;
  }

  envelope(handoffId: string, digest: Digest): LedgerEntry | undefined {
    return this.#envelopes.get(pairOf(handoffId, digest))?.value;
  }

  #addEntry(frame: number, entry: LedgerEntry): void {
    const { replayKey, digest, sequence, type, handoffId } = entry;
    if (replayKey !== null) {
      this.#seen.set(frame, pairOf(replayKey.from, replayKey.id), { digest, sequence });
    }
    if (type !== "envelope" || handoffId === null) return;
    const key = pairOf(handoffId, digest);
    if (this.#envelopes.get(key) === undefined) this.#envelopes.set(frame, key, entry);
  }

  /** The family of a handoff is that of its first commit, and its inboxes are returned in order. */
  #addHandoff(frame: number, handoff: StoredHandoff): void {
    this.handoffs.set(frame, handoff.id, { ...handoff, inboxes: sortedNames(handoff.inboxes) });
  }

  #addManifest(frame: number, { agent, sequence, keys }: NewManifest): void {
    this.agents.set(frame, agent, sequence);
    for (const { kid, record } of keys) this.keys.set(frame, kid, { kid, agent, record });
  }
}

/** What commits are checked against: everything on disk, indexed or not. What is not indexed comes first. */
export function everythingOnDisk(unindexed: Unindexed, reader: Reader): FrameView {
  return {
    versionOf: (id) => unindexed.handoffs.get(id)?.value.version ?? reader.family(id)?.version ?? 0,
    seen: (from, id) => unindexed.seen(from, id) ?? reader.seen(from, id),
    sequenceOf: (agent) => unindexed.agents.get(agent)?.value ?? reader.sequenceOf(agent),
    keyOwner: (kid) => (unindexed.keys.get(kid)?.value ?? reader.key(kid))?.agent,
    setting: (name) => settingOf(name, unindexed, reader),
    familyOf(id) {
      const known = unindexed.handoffs.get(id)?.value ?? reader.family(id);
      if (known === undefined) return undefined;
      const { delegator, correlationId, parentId, groupId } = known;
      return { delegator, correlationId, parentId, groupId };
    },
  };
}

export function settingOf(name: string, unindexed: Unindexed, reader: Reader): string | undefined {
  const changed = unindexed.settings.get(name);
  return changed === undefined ? reader.setting(name) : (changed.value ?? undefined);
}

function pairOf(first: string, second: string): string {
  return JSON.stringify([first, second]);
}
