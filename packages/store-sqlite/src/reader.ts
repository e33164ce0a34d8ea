/// <reference types="node" />
import type { DatabaseSync, SQLOutputValue, StatementSync } from "node:sqlite";
import type {
  LedgerEntry,
  ManifestCard,
  OfferedName,
  OfferPlace,
  Page,
  SeenEnvelope,
  Store,
  StoredHandoff,
  StoredKey,
  StoredManifest,
  StoredOffer,
  StoredSetting,
  TextPage,
  WaitingPlace,
} from "@waybill/hub/store";
import type { Digest } from "@waybill/protocol";
import { compactId } from "./compact-id.ts";
import { markOf } from "./digest-mark.ts";
import { Entries } from "./entries.ts";
import type { PlacedBlock } from "./entries.ts";
import type { ReadableLogFolder } from "./log/disk.ts";
import { startAfter } from "./log/place.ts";
import type { Place } from "./log/place.ts";
import { CARD_COLUMNS, cardOf, HANDOFF_COLUMNS, handoffOf } from "./row.ts";
import { keyOf, MANIFEST_COLUMNS, manifestOf, OFFER_COLUMNS, offerOf } from "./row.ts";

const HANDOFF = `SELECT ${HANDOFF_COLUMNS} FROM handoff`;
const MANIFEST = `SELECT ${MANIFEST_COLUMNS} FROM manifest`;
// A cross join keeps its order: the index of capabilities is followed, and nothing is sorted.
const NEWEST = "CROSS JOIN manifest ON manifest.agent = capability.agent AND is_newest = 1";
const OFFER = `SELECT ${OFFER_COLUMNS} FROM capability ${NEWEST}`;
const AFTER = "(name, capability.agent, version) > (?, ?, ?)";
const OFFER_TO = `SELECT ${OFFER_COLUMNS} FROM audience CROSS JOIN capability USING (name, agent, version) ${NEWEST}`;
const AFTER_TO = "(audience.name, audience.agent, audience.version) > (?, ?, ?)";
const BY_ID = "AND id > ? ORDER BY id LIMIT ?";

const QUERIES = {
  handoff: `${HANDOFF} WHERE id = ?`,
  handoffs: HANDOFF,
  due: `${HANDOFF} WHERE wake_at <= ? ORDER BY wake_at, id LIMIT ?`,
  nextWakeAt: "SELECT wake_at FROM handoff WHERE wake_at IS NOT NULL ORDER BY wake_at LIMIT 1",
  waiting: `${HANDOFF} WHERE waits_for = ? AND (waits_at, id) > (?, ?) ORDER BY waits_at, id LIMIT ?`,
  inbox: `${HANDOFF} WHERE id IN (SELECT handoff_id FROM inbox WHERE agent = ? AND handoff_id > ? ORDER BY handoff_id LIMIT ?) ORDER BY id`,
  correlated: `${HANDOFF} WHERE correlation_id = ? ${BY_ID}`,
  children: `${HANDOFF} WHERE parent_id = ? ${BY_ID}`,
  group: `${HANDOFF} WHERE delegator = ? AND group_id = ? ${BY_ID}`,
  session: `${HANDOFF} WHERE session = ? ORDER BY session_at DESC, id DESC LIMIT ?`,
  deadLetters: `${HANDOFF} WHERE is_dead_letter = 1 ${BY_ID}`,
  deadLettersOf: `${HANDOFF} WHERE is_dead_letter = 1 AND delegator = ? ${BY_ID}`,
  family:
    "SELECT version, delegator, correlation_id, parent_id, group_id FROM handoff WHERE id = ?",
  newest: "SELECT sequence FROM manifest WHERE agent = ? AND is_newest = 1",
  seen: "SELECT sequence FROM seen WHERE envelope_id = ? AND sender = ?",
  ledgerOf:
    "SELECT sequence FROM entry WHERE handoff_id = ? AND sequence > ? ORDER BY sequence LIMIT ?",
  entriesMarked: "SELECT sequence FROM entry WHERE handoff_id = ? AND mark = ? ORDER BY sequence",
  place: "SELECT place FROM log_place",
  manifest: `${MANIFEST} WHERE agent = ? AND is_newest = 1`,
  manifests: `${MANIFEST} WHERE agent = ? AND sequence > ? ORDER BY sequence LIMIT ?`,
  agents: `SELECT ${CARD_COLUMNS} FROM manifest WHERE is_newest = 1 AND agent > ? ORDER BY agent LIMIT ?`,
  key: "SELECT kid, agent, record, checksum FROM agent_key WHERE kid = ?",
  keys: "SELECT kid, agent, record, checksum FROM agent_key",
  offers: `${OFFER} WHERE ${AFTER} ORDER BY name, capability.agent, version LIMIT ?`,
  offersNamed: `${OFFER} WHERE name = ? AND capability.agent >= ? AND ${AFTER} ORDER BY capability.agent, version LIMIT ?`,
  offersOf: `${OFFER} WHERE capability.agent = ? AND name >= ? AND ${AFTER} ORDER BY name, version LIMIT ?`,
  offersOfNamed: `${OFFER} WHERE capability.agent = ? AND name = ? AND ${AFTER} ORDER BY version LIMIT ?`,
  offersTo: `${OFFER_TO} WHERE audience = ? AND ${AFTER_TO} ORDER BY audience.name, audience.agent, audience.version LIMIT ?`,
  offersToNamed: `${OFFER_TO} WHERE audience = ? AND audience.name = ? AND audience.agent >= ? AND ${AFTER_TO} ORDER BY audience.agent, audience.version LIMIT ?`,
  capability: `SELECT capability.content AS text, sequence FROM capability ${NEWEST} WHERE name = ? AND capability.agent = ? AND version = ?`,
  capabilityNames: "SELECT name, agents FROM capability_name WHERE name > ? ORDER BY name LIMIT ?",
  capabilityNamesTo:
    "SELECT name, agents FROM audience_name WHERE audience = ? AND name > ? ORDER BY name LIMIT ?",
  setting: "SELECT value FROM setting WHERE name = ?",
  settings: "SELECT name, value FROM setting WHERE name > ? ORDER BY name LIMIT ?",
} as const;

type QueryName = keyof typeof QUERIES;

/** Every query of a store, against what is in the index. */
export class Reader {
  readonly #query: Readonly<Record<QueryName, StatementSync>>;
  readonly #entries: Entries;

  constructor(database: DatabaseSync, folder: ReadableLogFolder) {
    this.#entries = new Entries(database, folder);
    const prepared = Object.entries(QUERIES).map(([name, sql]) => [name, database.prepare(sql)]);
    this.#query = Object.fromEntries(prepared) as Record<QueryName, StatementSync>;
  }

  handoff(id: string): StoredHandoff | undefined {
    const row = this.#query.handoff.get(id);
    return row && handoffOf(row);
  }

  /** Reads every handoff and every key, one at a time; throws for a modified one. */
  checkRows(): void {
    for (const row of this.#query.handoffs.iterate()) handoffOf(row);
    for (const row of this.#query.keys.iterate()) keyOf(row);
  }

  due(now: number, limit: number): StoredHandoff[] {
    return this.#query.due.all(now, limit).map(handoffOf);
  }

  nextWakeAt(): number | null {
    return (this.#query.nextWakeAt.get()?.["wake_at"] as number | undefined) ?? null;
  }

  waiting(target: string, { after, limit }: Page<WaitingPlace>): StoredHandoff[] {
    const { waitsAt, id } = after ?? { waitsAt: -Infinity, id: "" };
    return this.#query.waiting.all(target, waitsAt, id, limit).map(handoffOf);
  }

  /** The handoffs of a name, by id. */
  found(
    by: "inbox" | "correlated" | "children",
    name: string,
    { after = "", limit }: Page<string>,
  ): StoredHandoff[] {
    return this.#query[by].all(name, after, limit).map(handoffOf);
  }

  group(delegator: string, groupId: string, { after = "", limit }: Page<string>): StoredHandoff[] {
    return this.#query.group.all(delegator, groupId, after, limit).map(handoffOf);
  }

  session(name: string, limit: number): StoredHandoff[] {
    return this.#query.session.all(name, limit).map(handoffOf);
  }

  deadLetters({ after = "", limit }: Page<string>, delegator?: string): StoredHandoff[] {
    const rows =
      delegator === undefined
        ? this.#query.deadLetters.all(after, limit)
        : this.#query.deadLettersOf.all(delegator, after, limit);
    return rows.map(handoffOf);
  }

  /** Up to where the log is indexed. */
  place(): Place {
    return JSON.parse(this.#query.place.get()!["place"] as string) as Place;
  }

  /** Where the log begins. */
  start(): Place {
    return startAfter(this.#entries.legacyHead);
  }

  /** The version of a handoff, and what never changes of it. */
  family(id: string): (HandoffFamily & Pick<StoredHandoff, "version">) | undefined {
    const row = this.#query.family.get(id);
    return (
      row && {
        version: row["version"] as number,
        delegator: row["delegator"] as string,
        correlationId: row["correlation_id"] as string,
        parentId: row["parent_id"] as string | null,
        groupId: row["group_id"] as string | null,
      }
    );
  }

  /** Of an agent's newest manifest; 0 if it has none. */
  sequenceOf(agent: string): number {
    return (this.#query.newest.get(agent)?.["sequence"] as number | undefined) ?? 0;
  }

  seen(from: string, envelopeId: string): SeenEnvelope | undefined {
    const sequence = this.#query.seen.get(compactId(envelopeId), from)?.["sequence"];
    if (sequence === undefined) return undefined;
    return { digest: this.entry(sequence as number).digest, sequence: sequence as number };
  }

  entry(sequence: number): LedgerEntry {
    return this.#entries.at(sequence);
  }

  entryIn(block: PlacedBlock, sequence: number): LedgerEntry {
    return this.#entries.in(block, sequence);
  }

  ledger({ after = 0, limit, characters }: TextPage<number>): LedgerEntry[] {
    const end = Math.min(this.place().head.sequence, after + limit);
    return this.#entriesAt(sequencesTo(after, end), characters);
  }

  ledgerOf(handoffId: string, { after = 0, limit, characters }: TextPage<number>): LedgerEntry[] {
    return this.#entriesAt(this.#sequencesOf(handoffId, after, limit), characters);
  }

  envelope(handoffId: string, digest: Digest): LedgerEntry | undefined {
    for (const row of this.#query.entriesMarked.iterate(compactId(handoffId), markOf(digest))) {
      const entry = this.entry(row["sequence"] as number);
      if (entry.type === "envelope" && entry.digest === digest) return entry;
    }
    return undefined;
  }

  *#sequencesOf(handoffId: string, after: number, limit: number): Generator<number> {
    for (const row of this.#query.ledgerOf.iterate(compactId(handoffId), after, limit)) {
      yield row["sequence"] as number;
    }
  }

  /** Entries up to the one whose texts reach so many characters. */
  #entriesAt(sequences: Iterable<number>, characters: number = Infinity): LedgerEntry[] {
    const taken: LedgerEntry[] = [];
    let sum = 0;
    for (const sequence of sequences) {
      const entry = this.entry(sequence);
      taken.push(entry);
      sum += entry.content.length;
      if (sum >= characters) break;
    }
    return taken;
  }

  close(): void {
    this.#entries.close();
  }

  manifest(agent: string): StoredManifest | undefined {
    const row = this.#query.manifest.get(agent);
    return row && manifestOf(row);
  }

  manifests(agent: string, { after = 0, limit, characters }: TextPage<number>): StoredManifest[] {
    return untilFull(this.#query.manifests.iterate(agent, after, limit), characters).map(
      manifestOf,
    );
  }

  agents({ after = "", limit }: Page<string>): ManifestCard[] {
    return this.#query.agents.all(after, limit).map(cardOf);
  }

  key(kid: string): StoredKey | undefined {
    const row = this.#query.key.get(kid);
    return row && keyOf(row);
  }

  offers(
    { name, agent, audience }: Parameters<Store["offers"]>[0],
    { after = BEFORE_ALL, limit }: Page<OfferPlace>,
  ): StoredOffer[] {
    const query = this.#query;
    const rest = [after.name, after.agent, after.version, limit];
    if (agent !== undefined) {
      const rows =
        name === undefined
          ? query.offersOf.all(agent, after.name, ...rest)
          : query.offersOfNamed.all(agent, name, ...rest);
      return rows.map(offerOf);
    }
    const from = name === after.name ? after.agent : "";
    if (audience === undefined) {
      const rows =
        name === undefined ? query.offers.all(...rest) : query.offersNamed.all(name, from, ...rest);
      return rows.map(offerOf);
    }
    const rows =
      name === undefined
        ? query.offersTo.all(audience, ...rest)
        : query.offersToNamed.all(audience, name, from, ...rest);
    return rows.map(offerOf);
  }

  capability({ name, agent, version }: OfferPlace): { text: string; sequence: number } | undefined {
    const row = this.#query.capability.get(name, agent, version);
    return row && { text: row["text"] as string, sequence: row["sequence"] as number };
  }

  capabilityNames({ after = "", limit }: Page<string>, audience?: string): OfferedName[] {
    const rows =
      audience === undefined
        ? this.#query.capabilityNames.all(after, limit)
        : this.#query.capabilityNamesTo.all(audience, after, limit);
    return rows.map(({ name, agents }) => ({ name: name as string, agents: agents as number }));
  }

  setting(name: string): string | undefined {
    return this.#query.setting.get(name)?.["value"] as string | undefined;
  }

  settings(prefix: string, { after = prefix, limit }: Page<string>): StoredSetting[] {
    const found: StoredSetting[] = [];
    for (const row of this.#query.settings.iterate(after, limit)) {
      const { name, value } = row as { name: string; value: string };
      if (!name.startsWith(prefix)) break;
      found.push({ name, value });
    }
    return found;
  }
}

/** What never changes of a handoff. */
export type HandoffFamily = Pick<
  StoredHandoff,
  "delegator" | "correlationId" | "parentId" | "groupId"
>;

function* sequencesTo(after: number, end: number): Generator<number> {
  for (let sequence = after + 1; sequence <= end; sequence++) yield sequence;
}

const BEFORE_ALL: OfferPlace = { name: "", agent: "", version: "" };

/** Rows up to the one whose texts reach so many characters. */
function untilFull(
  rows: Iterable<Record<string, SQLOutputValue>>,
  characters: number = Infinity,
): Record<string, SQLOutputValue>[] {
  const taken: Record<string, SQLOutputValue>[] = [];
  let sum = 0;
  for (const row of rows) {
    taken.push(row);
    sum += (row["content"] as string).length;
    if (sum >= characters) break;
  }
  return taken;
}
