/// <reference types="node" />
import { hash } from "node:crypto";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type {
  Commit,
  CommitOutcome,
  LedgerHead,
  NewCapability,
  NewEntry,
  NewKey,
  NewManifest,
  SeenEnvelope,
  StoredHandoff,
} from "@waybill/hub/store";
import { chainText, faultOfCommit } from "@waybill/hub/store-thread";
import type { CommitView } from "@waybill/hub/store-thread";
import type { Digest } from "@waybill/protocol";
import { checksumOf, familyChecksumOf, keyChecksumOf } from "./checksum.ts";
import { rollBack } from "./roll-back.ts";
import { namesOf, textOfNames } from "./row.ts";

export type Change = Commit | { readonly setting: string; readonly value: string };

export type ChangeResult = { readonly outcome: CommitOutcome } | { readonly error: unknown };

/** Writes all waiting changes in one transaction, so that they share its one sync. */
export class Writer {
  readonly #database: DatabaseSync;
  readonly #run: ReturnType<typeof statements>;
  readonly #view: CommitView;
  /** The end of the ledger. Whichever thread wrote last knows it, and tells the next writer. */
  head: LedgerHead;

  constructor(database: DatabaseSync, head: LedgerHead) {
    this.#database = database;
    this.#run = statements(database);
    this.head = head;
    const { version, seen, newest, keyOwner, setting } = this.#run;
    this.#view = {
      versionOf: (id) => (version.get(id)?.["version"] as number | undefined) ?? 0,
      seen: (from, id) => seen.get(id, from) as Pick<SeenEnvelope, "digest"> | undefined,
      sequenceOf: (agent) => (newest.get(agent)?.["sequence"] as number | undefined) ?? 0,
      keyOwner: (kid) => keyOwner.get(kid)?.["agent"] as string | undefined,
      setting: (name) => setting.get(name)?.["value"] as string | undefined,
    };
  }

  /** One result for each change, in order, when everything is on disk. */
  write(changes: readonly Change[]): ChangeResult[] {
    try {
      return this.#transaction(changes).map((outcome) => ({ outcome }));
    } catch (error) {
      if (changes.length === 1 || !isErrorOfOneChange(error)) return changes.map(() => ({ error }));
      // One of them can't be written: the others must not suffer for it.
      return changes.flatMap((change) => this.write([change]));
    }
  }

  /**
   * The ledger's unique index detects a replayed envelope by itself; only if it rejects one are all of
   * them looked up beforehand.
   */
  #transaction(changes: readonly Change[], isLookedFor: boolean = false): CommitOutcome[] {
    const before = this.head;
    this.#run.begin.run();
    try {
      const outcomes = changes.map((change) => this.#change(change, isLookedFor));
      this.#run.commit.run();
      return outcomes;
    } catch (error) {
      this.head = before;
      rollBack(this.#database);
      if (isLookedFor || codeOf(error) !== SQLITE_CONSTRAINT_UNIQUE) throw error;
      return this.#transaction(changes, true);
    }
  }

  #change(change: Change, isLookedFor: boolean): CommitOutcome {
    if ("setting" in change) {
      this.#run.saveSetting.run(change.setting, change.value);
      return { type: "committed", lastSequence: this.head.sequence };
    }
    const { handoff, manifest, keys, entries, settings = [] } = change;
    const row = handoff === null ? undefined : this.#run.version.get(handoff.id);
    const isNext = handoff === null || handoff.version === ((row?.["version"] as number) ?? 0) + 1;
    const isJudged = manifest !== undefined || keys !== undefined || settings.length > 0;
    if (isLookedFor || !isNext || isJudged) {
      const fault = faultOfCommit(change, this.#view);
      if (fault !== undefined) return fault;
    }
    for (const entry of entries) this.#append(entry);
    if (handoff !== null) this.#put(handoff, row?.["inboxes"] as string | undefined);
    if (manifest !== undefined) this.#putManifest(manifest);
    if (keys !== undefined) {
      this.#run.restate.run(keys.facts, keys.agent);
      this.#putKeys(keys.agent, keys.keys);
      if (keys.isWithdrawn) this.#putCapabilities(keys.agent, []);
    }
    for (const { name, to } of settings) {
      if (to === null) this.#run.removeSetting.run(name);
      else this.#run.saveSetting.run(name, to);
    }
    return { type: "committed", lastSequence: this.head.sequence };
  }

  #append(entry: NewEntry): void {
    const placed = { ...entry, sequence: this.head.sequence + 1 };
    const link: Digest = `sha256:${hash("sha256", chainText(this.head.hash, placed))}`;
    const { sequence, at, type, handoffId, replayKey, digest, content } = placed;
    const { from = null, id = null } = replayKey ?? {};
    this.#run.append.run(sequence, at, type, handoffId, from, id, digest, link, content);
    this.head = { sequence, hash: link };
  }

  /** `before`: its previous inboxes, in the form of their column. */
  #put(handoff: StoredHandoff, before: string | undefined): void {
    const { id, version, state, wakeAt, waitsFor, waitsAt, record } = handoff;
    const inboxes = textOfNames(handoff.inboxes);
    const isDeadLetter = handoff.isDeadLetter ? 1 : 0;
    const checksum = checksumOf(handoff, inboxes);
    if (version === 1) {
      const { delegator, correlationId, parentId, groupId } = handoff;
      const family = [delegator, correlationId, parentId, groupId];
      const sums = [checksum, familyChecksumOf(handoff)];
      const rest = [wakeAt, waitsFor, inboxes, isDeadLetter, record, ...sums, waitsAt];
      this.#run.insert.run(
        id,
        version,
        state,
        ...family,
        ...rest,
        handoff.session,
        handoff.sessionAt,
      );
      this.#deliver(id, [], handoff.inboxes);
      return;
    }
    const columns = [version, state, wakeAt, waitsFor, inboxes, isDeadLetter, record, checksum];
    this.#run.update.run(...columns, waitsAt, handoff.session, handoff.sessionAt, id);
    if (before !== inboxes) this.#deliver(id, namesOf(before!), handoff.inboxes);
  }

  #deliver(id: string, before: readonly string[], now: readonly string[]): void {
    for (const agent of before) if (!now.includes(agent)) this.#run.leaveInbox.run(agent, id);
    for (const agent of now) if (!before.includes(agent)) this.#run.enterInbox.run(agent, id);
  }

  #putManifest({ agent, sequence, at, digest, facts, text, ...rest }: NewManifest): void {
    this.#run.retire.run(agent);
    this.#run.publish.run(agent, sequence, at, digest, text, facts);
    this.#putKeys(agent, rest.keys);
    this.#putCapabilities(agent, rest.capabilities);
  }

  #putKeys(agent: string, keys: readonly NewKey[]): void {
    for (const { kid, record } of keys) {
      this.#run.saveKey.run(kid, agent, record, keyChecksumOf({ kid, agent, record }));
    }
  }

  #putCapabilities(agent: string, capabilities: readonly NewCapability[]): void {
    const before = this.#run.offered.all(agent) as { name: string; version: string }[];
    const names = new Set(before.map(({ name }) => name));
    const left = new Set(capabilities.map(({ name }) => name));
    const kept = new Set(capabilities.map(placeOf));
    for (const each of before) {
      if (!kept.has(placeOf(each))) this.#run.withdraw.run(each.name, agent, each.version);
    }
    for (const { name, version, terms, text } of capabilities) {
      this.#run.offer.run(name, agent, version, terms, text.length, text);
    }
    for (const name of names) {
      if (left.has(name)) continue;
      this.#run.uncount.run(name);
      this.#run.forgetName.run(name);
    }
    for (const name of left) if (!names.has(name)) this.#run.count.run(name);
    this.#putAudiences(agent, capabilities);
  }

  /** Writes only what differs. */
  #putAudiences(agent: string, capabilities: readonly NewCapability[]): void {
    const stored = this.#run.audiences.all(agent) as unknown as AudiencePlace[];
    const before = new Map(stored.map((each) => [keyOf(each), each]));
    const now = new Map<string, AudiencePlace>();
    for (const { name, version, audiences } of capabilities) {
      for (const audience of audiences) {
        const place = { audience, name, version };
        now.set(keyOf(place), place);
      }
    }
    for (const [key, { audience, name, version }] of before) {
      if (!now.has(key)) this.#run.leaveAudience.run(audience, name, agent, version);
    }
    for (const [key, { audience, name, version }] of now) {
      if (!before.has(key)) this.#run.enterAudience.run(audience, name, agent, version);
    }
    const namesBefore = namesByAudience(before.values());
    const namesNow = namesByAudience(now.values());
    for (const [key, [audience, name]] of namesBefore) {
      if (namesNow.has(key)) continue;
      this.#run.uncountTo.run(audience, name);
      this.#run.forgetNameTo.run(audience, name);
    }
    for (const [key, [audience, name]] of namesNow) {
      if (!namesBefore.has(key)) this.#run.countTo.run(audience, name);
    }
  }
}

/** No name contains a space. */
function placeOf({ name, version }: { readonly name: string; readonly version: string }): string {
  return `${name} ${version}`;
}

interface AudiencePlace {
  readonly audience: string;
  readonly name: string;
  readonly version: string;
}

function keyOf({ audience, name, version }: AudiencePlace): string {
  return JSON.stringify([audience, name, version]);
}

function namesByAudience(
  places: Iterable<AudiencePlace>,
): ReadonlyMap<string, readonly [audience: string, name: string]> {
  return new Map(
    Array.from(places, ({ audience, name }) => [
      JSON.stringify([audience, name]),
      [audience, name],
    ]),
  );
}

/** SQLite's codes for a single change that is too large or invalid. */
const SINGLE_CHANGE_ERRORS: ReadonlySet<unknown> = new Set([
  13, // the disk has no space for it
  18, // too large for a row
  19, // violates a constraint
  20, // of another type than its column
]);

/** A duplicate row of a unique index. */
const SQLITE_CONSTRAINT_UNIQUE = 2067;

/** True if another change may succeed; a value that can't even be bound has no code at all. */
function isErrorOfOneChange(error: unknown): boolean {
  const code = codeOf(error);
  return code === undefined || SINGLE_CHANGE_ERRORS.has(code & 0xff);
}

function codeOf(error: unknown): number | undefined {
  return (error as { errcode?: number }).errcode;
}

function statements(database: DatabaseSync) {
  const prepare = (sql: string): StatementSync => database.prepare(sql);
  return {
    begin: prepare("BEGIN IMMEDIATE"),
    commit: prepare("COMMIT"),
    version: prepare("SELECT version, inboxes FROM handoff WHERE id = ?"),
    seen: prepare("SELECT digest FROM ledger WHERE envelope_id = ? AND sender = ?"),
    newest: prepare("SELECT sequence FROM manifest WHERE agent = ? AND is_newest = 1"),
    keyOwner: prepare("SELECT agent FROM agent_key WHERE kid = ?"),
    append: prepare("INSERT INTO ledger VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"),
    insert: prepare(
      "INSERT INTO handoff VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    ),
    // The family of a handoff never changes, so its indices are not touched.
    update: prepare(
      "UPDATE handoff SET version = ?, state = ?, wake_at = ?, waits_for = ?, inboxes = ?, is_dead_letter = ?, record = ?, checksum = ?, waits_at = ?, session = ?, session_at = ? WHERE id = ?",
    ),
    enterInbox: prepare("INSERT INTO inbox VALUES (?, ?)"),
    leaveInbox: prepare("DELETE FROM inbox WHERE agent = ? AND handoff_id = ?"),
    retire: prepare("UPDATE manifest SET is_newest = 0 WHERE agent = ? AND is_newest = 1"),
    restate: prepare("UPDATE manifest SET facts = ? WHERE agent = ? AND is_newest = 1"),
    publish: prepare("INSERT INTO manifest VALUES (?, ?, 1, ?, ?, ?, ?)"),
    saveKey: prepare(
      "INSERT INTO agent_key VALUES (?, ?, ?, ?) ON CONFLICT (kid) DO UPDATE SET record = excluded.record, checksum = excluded.checksum",
    ),
    offered: prepare("SELECT name, version FROM capability WHERE agent = ?"),
    withdraw: prepare("DELETE FROM capability WHERE name = ? AND agent = ? AND version = ?"),
    // An unchanged row costs no write.
    offer: prepare(
      "INSERT INTO capability VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (name, agent, version) DO UPDATE SET terms = excluded.terms, characters = excluded.characters, content = excluded.content WHERE content <> excluded.content OR terms <> excluded.terms",
    ),
    count: prepare(
      "INSERT INTO capability_name VALUES (?, 1) ON CONFLICT (name) DO UPDATE SET agents = agents + 1",
    ),
    uncount: prepare("UPDATE capability_name SET agents = agents - 1 WHERE name = ?"),
    forgetName: prepare("DELETE FROM capability_name WHERE name = ? AND agents = 0"),
    audiences: prepare("SELECT audience, name, version FROM audience WHERE agent = ?"),
    enterAudience: prepare("INSERT INTO audience VALUES (?, ?, ?, ?)"),
    leaveAudience: prepare(
      "DELETE FROM audience WHERE audience = ? AND name = ? AND agent = ? AND version = ?",
    ),
    countTo: prepare(
      "INSERT INTO audience_name VALUES (?, ?, 1) ON CONFLICT (audience, name) DO UPDATE SET agents = agents + 1",
    ),
    uncountTo: prepare(
      "UPDATE audience_name SET agents = agents - 1 WHERE audience = ? AND name = ?",
    ),
    forgetNameTo: prepare(
      "DELETE FROM audience_name WHERE audience = ? AND name = ? AND agents = 0",
    ),
    setting: prepare("SELECT value FROM setting WHERE name = ?"),
    removeSetting: prepare("DELETE FROM setting WHERE name = ?"),
    saveSetting: prepare(
      "INSERT INTO setting VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
    ),
  };
}
