import { parseEnvelope, readCompact, WaybillError } from "@waybill/protocol";
import type { Digest, HandoffEnvelope } from "@waybill/protocol";
import type { Clock } from "../clock.ts";
import type { Commit, NewEntry, Store, StoredHandoff } from "../store.ts";
import { Draft } from "./draft.ts";
import { decisionEntry } from "./entries.ts";
import type { HubEvent } from "./entries.ts";
import { Lanes } from "./lanes.ts";
import { Recent } from "./recent.ts";
import { caseOf, storedOf } from "./record.ts";
import type { Case, HandoffRecord } from "./record.ts";

/** What stands in memory: the case on disk, and the frames that are not worth a commit. */
interface Held extends Case {
  /** What the ledger needs only if the attempt is lost in this state. */
  readonly soft: readonly HubEvent[];
  readonly isAhead?: true;
}

/** An envelope as it was signed, and when it came in. */
export interface Paper {
  readonly text: string;
  readonly at: number;
}

/** The last version of a handoff that was written here, and the newest one that was heard of. */
interface Versions {
  readonly own: number;
  readonly newest: number;
}

export type Changed<Value> =
  | { readonly type: "changed"; readonly value: Value; readonly draft: Draft }
  /** Somebody's envelope of the same id is in the ledger. */
  | { readonly type: "replayed"; readonly digest: Digest };

export interface CasesOptions {
  readonly store: Store;
  readonly commit: Store["commit"];
  readonly clock: Clock;
  /** Adds what follows from a plan, in the same commit. */
  readonly finish: (draft: Draft) => Promise<void>;
  /** Takes back what `finish` or the plan has reserved. */
  readonly abandon: (draft: Draft) => void;
  /** The draft is on disk: what it says may leave. */
  readonly settle: (draft: Draft, stored: StoredHandoff) => Promise<void>;
  /** The store has failed to say whether it has this. */
  readonly doubtful: (stored: StoredHandoff) => void;
  /** Another hub has written first. */
  readonly overtaken: (held: Case) => Promise<void>;
}

const CASES_KEPT = 20_000;
const PAPER_CHARACTERS_KEPT = 16 * 1024 * 1024;

/** Every handoff in custody, changed one step at a time, each step on disk before it shows. */
export class Cases {
  readonly lanes: Lanes = new Lanes();
  readonly #options: CasesOptions;
  readonly #held = new Recent<string, Held>(CASES_KEPT);
  readonly #papers = new Recent<string, Paper>(PAPER_CHARACTERS_KEPT, ({ text }) => text.length);
  /** Versions that are being written here, so that the store's echo is not taken for another hub's. */
  readonly #writing = new Map<string, number>();
  readonly #versions = new Recent<string, Versions>(CASES_KEPT);

  constructor(options: CasesOptions) {
    this.#options = options;
  }

  isOwnWrite({ id, version }: StoredHandoff): boolean {
    return this.#writing.get(id) === version || this.#versions.get(id)?.own === version;
  }

  /** Drops what is in memory if the store has something newer. */
  outdate({ id, version }: StoredHandoff): void {
    const { own = 0, newest = 0 } = this.#versions.get(id) ?? {};
    this.#versions.set(id, { own, newest: Math.max(newest, version) });
    const held = this.#held.get(id);
    if (held !== undefined && held.version < version) this.#held.delete(id);
  }

  /** Only inside the handoff's lane is what this gives still true a moment later. */
  async load(id: string): Promise<Case | undefined> {
    const held = this.#held.get(id);
    if (held !== undefined) return held;
    for (;;) {
      const stored = await this.#options.store.handoff(id);
      const version = stored?.version ?? 0;
      const meanwhile = this.#held.get(id);
      if (meanwhile !== undefined && meanwhile.version >= version) return meanwhile;
      // What another hub has written since was told while this was being read: it is out of date.
      if (version < (this.#versions.get(id)?.newest ?? 0)) continue;
      if (stored === undefined) return undefined;
      const loaded: Held = { ...caseOf(stored), soft: [] };
      this.#held.set(id, loaded);
      return loaded;
    }
  }

  /** As the store has it now, whatever other hubs have not told yet. */
  async current(id: string): Promise<HandoffRecord | undefined> {
    const changed = await this.change(id, ({ record }) => record);
    return changed.type === "changed" ? changed.value : undefined;
  }

  /**
   * Runs a plan in the handoff's lane, again where another hub has written in between. `isAbsent`:
   * the store was asked a moment ago and has none; if that is not so any more, the commit tells.
   */
  change<Value>(
    id: string,
    plan: (draft: Draft) => Value | Promise<Value>,
    isAbsent: boolean = false,
  ): Promise<Changed<Value>> {
    return this.lanes.run(id, async () => {
      for (let isFirst = true; ; isFirst = false) {
        const before =
          isFirst && isAbsent ? this.#held.get(id) : ((await this.load(id)) as Held | undefined);
        const draft = new Draft(before?.record, before?.version ?? 0, this.#options.clock.now());
        let outcome: "conflict" | Changed<Value>;
        try {
          const value = await plan(draft);
          await this.#options.finish(draft);
          outcome = (await this.#isOutdated(id, before, draft))
            ? "conflict"
            : await this.#write(id, before, draft, value);
        } catch (error) {
          this.#options.abandon(draft);
          throw error;
        }
        if (outcome !== "conflict" && outcome.type === "changed") return outcome;
        this.#options.abandon(draft);
        await this.#catchUp(id, before);
        if (outcome !== "conflict") return outcome;
      }
    });
  }

  /** What another hub has written may have been taken for the write of the same version here. */
  async #catchUp(id: string, before: Case | undefined): Promise<void> {
    this.#held.delete(id);
    const newer = await this.load(id);
    if (newer === undefined || newer.version === before?.version) return;
    await this.#options.overtaken(newer);
  }

  /** What changes nothing meets no version in the store: it must not be decided on an old one. */
  async #isOutdated(id: string, before: Case | undefined, draft: Draft): Promise<boolean> {
    if (before === undefined || draft.isChanged) return false;
    const stored = await this.#options.store.handoff(id);
    if (stored === undefined || stored.version <= before.version) return false;
    this.outdate(stored);
    return true;
  }

  /**
   * Takes a frame: in memory, and every second one on disk. With frames a third of the lease apart
   * no other hub, and no restart, sees an attempt as silent that is not.
   */
  frame(id: string, plan: (draft: Draft) => readonly HubEvent[] | undefined): Promise<void> {
    return this.lanes.run(id, async () => {
      const before = (await this.load(id)) as Held | undefined;
      if (before === undefined) return;
      const draft = new Draft(before.record, before.version, this.#options.clock.now());
      const events = plan(draft);
      if (events === undefined || draft.record === undefined) return;
      const soft = [...before.soft, ...events];
      if (before.isAhead !== true) {
        const { version } = before;
        this.#held.set(id, { version, record: draft.record, soft, isAhead: true });
        return;
      }
      const outcome = await this.#write(id, { ...before, soft }, draft, undefined);
      if (outcome === "conflict") await this.#catchUp(id, before);
    });
  }

  async #write<Value>(
    id: string,
    before: Held | undefined,
    draft: Draft,
    value: Value,
  ): Promise<"conflict" | Changed<Value>> {
    const { commit: commitTo, settle } = this.#options;
    const isChanged = draft.isChanged && draft.record !== undefined;
    if (!isChanged && draft.entries.length === 0) return { type: "changed", value, draft };
    const version = (before?.version ?? 0) + (isChanged ? 1 : 0);
    const next: Case = { version, record: draft.record! };
    const stored = storedOf(next);
    const entries = [...softOf(before, draft), ...draft.entries];
    this.#writing.set(id, version);
    const { settings } = draft;
    const commit: Commit = {
      handoff: isChanged ? stored : null,
      entries,
      ...(settings.length > 0 && { settings }),
    };
    let outcome;
    try {
      outcome = await commitTo(commit);
    } catch (error) {
      // It may be on disk or not: the store is asked again.
      this.#held.delete(id);
      if (isChanged) this.#options.doubtful(stored);
      throw error;
    } finally {
      this.#writing.delete(id);
    }
    if (outcome.type === "replayed") return outcome;
    if (outcome.type !== "committed") return "conflict";
    const { own = 0, newest = 0 } = this.#versions.get(id) ?? {};
    if (isChanged) this.#versions.set(id, { own: version, newest: Math.max(newest, own, version) });
    if (draft.record?.state.isAcknowledged === true) this.#forget(draft.record);
    else this.#keep(next, draft);
    await settle(draft, stored);
    return { type: "changed", value, draft };
  }

  #keep(next: Case, { record, entries, receipt }: Draft): void {
    if (record !== undefined) this.#held.set(record.state.id, { ...next, soft: [] });
    for (const { type, digest, content, at } of entries) {
      // A receipt of the hub is for its sender alone, who has it now.
      if (type === "envelope" && digest !== receipt?.digest) {
        this.#papers.set(digest, { text: content, at });
      }
    }
  }

  /** Hardly anybody asks for it again, and to keep it costs more than to read it for who does. */
  #forget({ state: { id, digest, outcome }, acceptance, notice }: HandoffRecord): void {
    this.#held.delete(id);
    for (const each of [digest, acceptance, outcome, notice]) {
      if (each !== null) this.#papers.delete(each);
    }
  }

  /** An envelope of a handoff, by its digest: from memory, or out of the ledger. */
  async paper(id: string, digest: Digest): Promise<Paper> {
    const known = this.#papers.get(digest);
    if (known !== undefined) return known;
    const found = await this.#options.store.envelope(id, digest);
    if (found !== undefined) {
      const paper = { text: found.content, at: found.at };
      this.#papers.set(digest, paper);
      return paper;
    }
    throw new WaybillError(
      500,
      `The ledger has no envelope ${digest} of handoff ${id}, though its record names it: the store is damaged. Check it with the ledger's verification.`,
    );
  }

  async handoffOf(draft: Draft): Promise<HandoffEnvelope> {
    if (draft.handoff === undefined) {
      const { id, digest } = draft.record!.state;
      const { text } = await this.paper(id, digest);
      draft.handoff = parseEnvelope(readCompact(text).payload) as HandoffEnvelope;
    }
    return draft.handoff;
  }
}

/** That an attempt was taken matters to the ledger only where nothing signed says more. */
function softOf(before: Held | undefined, draft: Draft): readonly NewEntry[] {
  if (before === undefined || before.soft.length === 0) return [];
  const last = draft.record?.state.attempts.at(-1);
  if (last?.state !== "offered" && last?.closed !== "lease_lost") return [];
  return before.soft.map((event) => decisionEntry(event.at, draft.record!.state.id, event));
}
