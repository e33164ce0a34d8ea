/// <reference types="node" />
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type {
  LedgerEntry,
  NewCapability,
  NewKey,
  NewManifest,
  StoredHandoff,
} from "@waybill/hub/store";
import { checksumOf, familyChecksumOf, keyChecksumOf } from "./checksum.ts";
import { compactId } from "./compact-id.ts";
import { markOf } from "./digest-mark.ts";
import { Blocks } from "./log/blocks.ts";
import type { Frame } from "./log/frame.ts";
import { linesOf, parseLine } from "./log/line.ts";
import type { Line } from "./log/line.ts";
import type { Place } from "./log/place.ts";
import type { SealedEntries } from "./log/seal.ts";
import { rollBack } from "./roll-back.ts";
import { namesOf, textOfNames } from "./row.ts";

/** Writes what is in the log into the index, many frames in one transaction. */
export class IndexWriter {
  readonly #database: DatabaseSync;
  readonly #run: ReturnType<typeof statements>;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#run = statements(database);
  }

  /** Everything that `fill` writes, and where the index stands then, or nothing. */
  transaction(fill: () => Place): void {
    this.#run.begin.run();
    try {
      this.#run.setPlace.run(JSON.stringify(fill()));
      this.#run.commit.run();
    } catch (error) {
      rollBack(this.#database);
      throw error;
    }
  }

  /** Within a transaction: one frame of this segment. */
  write(frame: Frame, segment: number): void {
    const blocks = new Blocks(frame, ({ sequence, position, length }) => {
      this.#run.block.run(sequence, segment, position, length);
    });
    for (const written of linesOf(frame.body)) {
      const line = parseLine(written.text);
      this.#write(line);
      blocks.add(line, written);
    }
    blocks.end();
  }

  /** The blocks of a segment that is sealed now, instead of those that it had. */
  replaceBlocks(segment: number, { first, last, blocks }: SealedEntries): void {
    this.#run.begin.run();
    try {
      this.#run.removeBlocks.run(first, last);
      for (const { sequence, position, length } of blocks) {
        this.#run.block.run(sequence, segment, position, length);
      }
      this.#run.commit.run();
    } catch (error) {
      rollBack(this.#database);
      throw error;
    }
  }

  #write(line: Line): void {
    switch (line.type) {
      case "entry":
        return this.#putEntry(line.entry);
      case "handoff":
        return this.#put(line.handoff);
      case "manifest":
        return this.#putManifest(line.manifest);
      case "keys": {
        const { agent, facts, keys, isWithdrawn } = line.keys;
        this.#run.restate.run(facts, agent);
        this.#putKeys(agent, keys);
        if (isWithdrawn) this.#putCapabilities(agent, []);
        return;
      }
      case "setting": {
        const { name, to } = line.setting;
        if (to === null) this.#run.removeSetting.run(name);
        else this.#run.saveSetting.run(name, to);
      }
    }
  }

  #putEntry({ sequence, handoffId, digest, replayKey }: LedgerEntry): void {
    if (handoffId !== null) this.#run.entry.run(compactId(handoffId), sequence, markOf(digest));
    if (replayKey !== null) {
      this.#run.seen.run(compactId(replayKey.id), replayKey.from, sequence);
    }
  }

  #put(handoff: StoredHandoff): void {
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
    const before = this.#run.inboxes.get(id)?.["inboxes"] as string;
    const columns = [version, state, wakeAt, waitsFor, inboxes, isDeadLetter, record, checksum];
    this.#run.update.run(...columns, waitsAt, handoff.session, handoff.sessionAt, id);
    if (before !== inboxes) this.#deliver(id, namesOf(before), handoff.inboxes);
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

function statements(database: DatabaseSync) {
  const prepare = (sql: string): StatementSync => database.prepare(sql);
  return {
    begin: prepare("BEGIN IMMEDIATE"),
    commit: prepare("COMMIT"),
    inboxes: prepare("SELECT inboxes FROM handoff WHERE id = ?"),
    block: prepare("INSERT INTO block VALUES (?, ?, ?, ?)"),
    removeBlocks: prepare("DELETE FROM block WHERE sequence >= ? AND sequence <= ?"),
    entry: prepare("INSERT INTO entry VALUES (?, ?, ?)"),
    seen: prepare("INSERT INTO seen VALUES (?, ?, ?)"),
    setPlace: prepare("UPDATE log_place SET place = ?"),
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
    removeSetting: prepare("DELETE FROM setting WHERE name = ?"),
    saveSetting: prepare(
      "INSERT INTO setting VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
    ),
  };
}
