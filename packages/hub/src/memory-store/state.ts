import { chainHash, EMPTY_LEDGER } from "../ledger/chain.ts";
import type { Digest } from "@waybill/protocol";
import type {
  Commit,
  CommitOutcome,
  LedgerEntry,
  LedgerHead,
  Page,
  SeenEnvelope,
  StoredHandoff,
  StoredSetting,
  TextPage,
  WaitingPlace,
} from "../store.ts";
import { byText, IdIndex } from "./id-index.ts";
import { take, takeTexts } from "./pages.ts";
import { RegistryState } from "./registry-state.ts";
import { SortedSet } from "./sorted-set.ts";

/** The content of the store, without I/O. */
export class MemoryState {
  readonly registry: RegistryState = new RegistryState();
  readonly #handoffs = new Map<string, StoredHandoff>();
  readonly #ledger: Placed[] = [];
  /** The last entry about each handoff, from which the earlier ones are reached. */
  readonly #lastEntries = new Map<string, number>();
  /** The entry of each envelope, by its sender and its id. */
  readonly #replayKeys = new Map<string, Map<string, number>>();
  readonly #settings = new Map<string, string>();
  readonly #settingNames = new SortedSet<string>(byText);

  readonly #due = new SortedSet<Due>((a, b) => a.wakeAt - b.wakeAt || byText(a.id, b.id));
  readonly #waiting = new Map<string, SortedSet<WaitingPlace>>();
  readonly #inbox = new IdIndex();
  readonly #correlated = new IdIndex();
  readonly #children = new IdIndex();
  readonly #group = new IdIndex();
  readonly #sessions = new Map<string, SortedSet<InSession>>();
  readonly #deadLetters = new IdIndex();
  readonly #deadLettersOf = new IdIndex();

  #head: LedgerHead = EMPTY_LEDGER;

  versionOf(id: string): number {
    return this.#handoffs.get(id)?.version ?? 0;
  }

  sequenceOf(agent: string): number {
    return this.registry.sequenceOf(agent);
  }

  keyOwner(kid: string): string | undefined {
    return this.registry.key(kid)?.agent;
  }

  /** Applies a commit that was checked. */
  apply(commit: Commit): CommitOutcome {
    for (const entry of commit.entries) this.#append(entry);
    if (commit.handoff !== null) this.#put(commit.handoff);
    if (commit.manifest !== undefined) this.registry.put(commit.manifest);
    if (commit.keys !== undefined) this.registry.changeKeys(commit.keys);
    for (const { name, to } of commit.settings ?? []) this.#changeSetting(name, to);
    return { type: "committed", lastSequence: this.#head.sequence };
  }

  #append(entry: Commit["entries"][number]): void {
    const placed = { ...entry, sequence: this.#head.sequence + 1 };
    const hash = chainHash(this.#head.hash, placed);
    const { sequence, handoffId, replayKey } = placed;
    const before = handoffId === null ? 0 : (this.#lastEntries.get(handoffId) ?? 0);
    this.#ledger.push({ entry: { ...placed, hash }, before });
    this.#head = { sequence, hash };
    if (handoffId !== null) this.#lastEntries.set(handoffId, sequence);
    if (replayKey !== null) this.#envelopesOf(replayKey.from).set(replayKey.id, sequence);
  }

  #envelopesOf(agent: string): Map<string, number> {
    const known = this.#replayKeys.get(agent);
    if (known !== undefined) return known;
    const envelopes = new Map<string, number>();
    this.#replayKeys.set(agent, envelopes);
    return envelopes;
  }

  #put(handoff: StoredHandoff): void {
    const before = this.#handoffs.get(handoff.id);
    const { wakeAt, waitsFor, session, isDeadLetter } = handoff;
    const row: StoredHandoff = { ...handoff, inboxes: handoff.inboxes.toSorted(byText) };
    if (before === undefined) this.#enter(row);
    else this.#leave(before, row);
    this.#handoffs.set(row.id, row);
    if (wakeAt !== null) this.#due.add(row as Due);
    if (waitsFor !== null) this.#queueOf(waitsFor).add(row);
    if (session !== null) this.#sessionOf(session).add(row);
    for (const agent of row.inboxes) this.#inbox.add(agent, row.id);
    if (isDeadLetter) {
      this.#deadLetters.add("", row.id);
      this.#deadLettersOf.add(row.delegator, row.id);
    }
  }

  #queueOf(target: string): SortedSet<WaitingPlace> {
    const known = this.#waiting.get(target);
    if (known !== undefined) return known;
    const queue = new SortedSet<WaitingPlace>(
      (a, b) => a.waitsAt - b.waitsAt || byText(a.id, b.id),
    );
    this.#waiting.set(target, queue);
    return queue;
  }

  #leaveQueue(target: string, place: WaitingPlace): void {
    const queue = this.#waiting.get(target);
    queue?.delete(place);
    if (queue?.isEmpty === true) this.#waiting.delete(target);
  }

  #sessionOf(name: string): SortedSet<InSession> {
    const known = this.#sessions.get(name);
    if (known !== undefined) return known;
    const session = new SortedSet<InSession>(
      (a, b) => b.sessionAt - a.sessionAt || byText(b.id, a.id),
    );
    this.#sessions.set(name, session);
    return session;
  }

  #leaveSession(name: string, place: InSession): void {
    const session = this.#sessions.get(name);
    session?.delete(place);
    if (session?.isEmpty === true) this.#sessions.delete(name);
  }

  #enter(row: StoredHandoff): void {
    this.#correlated.add(row.correlationId, row.id);
    if (row.parentId !== null) this.#children.add(row.parentId, row.id);
    if (row.groupId !== null) this.#group.add(groupName(row.delegator, row.groupId), row.id);
  }

  #leave(before: StoredHandoff, row: StoredHandoff): void {
    const { id } = before;
    if (before.wakeAt !== null) this.#due.delete(before as Due);
    if (before.waitsFor !== null) this.#leaveQueue(before.waitsFor, before);
    if (before.session !== null) this.#leaveSession(before.session, before);
    for (const agent of before.inboxes) {
      if (!row.inboxes.includes(agent)) this.#inbox.delete(agent, id);
    }
    if (before.isDeadLetter) {
      this.#deadLetters.delete("", id);
      this.#deadLettersOf.delete(before.delegator, id);
    }
  }

  saveSetting(name: string, value: string): void {
    this.#changeSetting(name, value);
  }

  #changeSetting(name: string, to: string | null): void {
    if (to === null) {
      this.#settings.delete(name);
      this.#settingNames.delete(name);
      return;
    }
    this.#settings.set(name, to);
    this.#settingNames.add(name);
  }

  settings(prefix: string, { after = prefix, limit }: Page<string>): StoredSetting[] {
    const found: StoredSetting[] = [];
    for (const name of this.#settingNames.after(after)) {
      if (found.length === limit || !name.startsWith(prefix)) break;
      found.push({ name, value: this.#settings.get(name)! });
    }
    return found;
  }

  setting(name: string): string | undefined {
    return this.#settings.get(name);
  }

  handoff(id: string): StoredHandoff | undefined {
    return this.#handoffs.get(id);
  }

  due(now: number, limit: number): StoredHandoff[] {
    const ids: string[] = [];
    for (const { id, wakeAt } of this.#due.after()) {
      if (wakeAt > now || ids.length >= limit) break;
      ids.push(id);
    }
    return this.#all(ids, limit);
  }

  nextWakeAt(): number | null {
    return this.#due.first()?.wakeAt ?? null;
  }

  waiting(target: string, { after, limit }: Page<WaitingPlace>): StoredHandoff[] {
    const ids: string[] = [];
    for (const { id } of this.#waiting.get(target)?.after(after) ?? []) {
      if (ids.length >= limit) break;
      ids.push(id);
    }
    return this.#all(ids, limit);
  }

  inbox(agent: string, { after, limit }: Page<string>): StoredHandoff[] {
    return this.#all(this.#inbox.after(agent, after), limit);
  }

  correlated(correlationId: string, { after, limit }: Page<string>): StoredHandoff[] {
    return this.#all(this.#correlated.after(correlationId, after), limit);
  }

  children(parentId: string, { after, limit }: Page<string>): StoredHandoff[] {
    return this.#all(this.#children.after(parentId, after), limit);
  }

  group(delegator: string, groupId: string, { after, limit }: Page<string>): StoredHandoff[] {
    return this.#all(this.#group.after(groupName(delegator, groupId), after), limit);
  }

  session(name: string, limit: number): StoredHandoff[] {
    const ids = take(this.#sessions.get(name)?.after() ?? [], limit).map(({ id }) => id);
    return this.#all(ids, limit);
  }

  deadLetters({ after, limit }: Page<string>, delegator?: string): StoredHandoff[] {
    const ids =
      delegator === undefined
        ? this.#deadLetters.after("", after)
        : this.#deadLettersOf.after(delegator, after);
    return this.#all(ids, limit);
  }

  #all(ids: Iterable<string>, limit: number): StoredHandoff[] {
    return take(ids, limit).map((id) => this.handoff(id)!);
  }

  seen(from: string, id: string): SeenEnvelope | undefined {
    const sequence = this.#replayKeys.get(from)?.get(id);
    if (sequence === undefined) return undefined;
    return { digest: this.#entry(sequence).digest, sequence };
  }

  #entry(sequence: number): LedgerEntry {
    return this.#ledger[sequence - 1]!.entry;
  }

  ledgerHead(): LedgerHead {
    return this.#head;
  }

  ledger({ after = 0, ...page }: TextPage<number>): LedgerEntry[] {
    return takeTexts(this.#entriesAfter(after), page, lengthOf);
  }

  *#entriesAfter(after: number): Generator<LedgerEntry> {
    for (let sequence = after + 1; sequence <= this.#head.sequence; sequence++) {
      yield this.#entry(sequence);
    }
  }

  ledgerOf(handoffId: string, { after = 0, ...page }: TextPage<number>): LedgerEntry[] {
    return takeTexts(
      this.#entriesAt([...this.#entriesOf(handoffId, after)].reverse()),
      page,
      lengthOf,
    );
  }

  envelope(handoffId: string, digest: Digest): LedgerEntry | undefined {
    for (const sequence of this.#entriesOf(handoffId, 0)) {
      const entry = this.#entry(sequence);
      if (entry.type === "envelope" && entry.digest === digest) return entry;
    }
    return undefined;
  }

  *#entriesAt(sequences: readonly number[]): Generator<LedgerEntry> {
    for (const sequence of sequences) yield this.#entry(sequence);
  }

  /** From the last one back. */
  *#entriesOf(handoffId: string, after: number): Generator<number> {
    let sequence = this.#lastEntries.get(handoffId) ?? 0;
    for (; sequence > after; sequence = this.#ledger[sequence - 1]!.before) yield sequence;
  }
}

/** An entry, and the previous one about the same handoff; 0 if there is none. */
interface Placed {
  readonly entry: LedgerEntry;
  readonly before: number;
}

type InSession = Pick<StoredHandoff, "sessionAt" | "id">;
type Due = StoredHandoff & { readonly wakeAt: number };

function lengthOf({ content }: LedgerEntry): number {
  return content.length;
}

function groupName(delegator: string, groupId: string): string {
  return JSON.stringify([delegator, groupId]);
}
