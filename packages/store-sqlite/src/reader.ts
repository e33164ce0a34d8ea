/// <reference types="node" />
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { LedgerEntry, Page, StoredHandoff, StoredManifest } from "@waybill/hub";
import type { Digest } from "@waybill/protocol";
import { ENTRY_COLUMNS, entryOf, HANDOFF_COLUMNS, handoffOf } from "./row.ts";
import { MANIFEST_COLUMNS, manifestOf } from "./row.ts";

const HANDOFF = `SELECT ${HANDOFF_COLUMNS} FROM handoff`;
const ENTRY = `SELECT ${ENTRY_COLUMNS} FROM ledger`;
const MANIFEST = `SELECT ${MANIFEST_COLUMNS} FROM manifest`;
const BY_ID = "AND id > ? ORDER BY id LIMIT ?";

const QUERIES = {
  handoff: `${HANDOFF} WHERE id = ?`,
  handoffs: HANDOFF,
  due: `${HANDOFF} WHERE wake_at <= ? ORDER BY wake_at, id LIMIT ?`,
  nextWakeAt: "SELECT wake_at FROM handoff WHERE wake_at IS NOT NULL ORDER BY wake_at LIMIT 1",
  waiting: `${HANDOFF} WHERE waits_for = ? ${BY_ID}`,
  inbox: `${HANDOFF} WHERE id IN (SELECT handoff_id FROM inbox WHERE agent = ? AND handoff_id > ? ORDER BY handoff_id LIMIT ?) ORDER BY id`,
  correlated: `${HANDOFF} WHERE correlation_id = ? ${BY_ID}`,
  children: `${HANDOFF} WHERE parent_id = ? ${BY_ID}`,
  group: `${HANDOFF} WHERE group_id = ? ${BY_ID}`,
  deadLetters: `${HANDOFF} WHERE is_dead_letter = 1 ${BY_ID}`,
  seen: "SELECT digest FROM ledger WHERE envelope_id = ? AND sender = ?",
  ledger: `${ENTRY} WHERE sequence > ? ORDER BY sequence LIMIT ?`,
  ledgerOf: `${ENTRY} WHERE handoff_id = ? AND sequence > ? ORDER BY sequence LIMIT ?`,
  manifest: `${MANIFEST} WHERE agent = ? AND is_newest = 1`,
  manifests: `${MANIFEST} WHERE agent = ? ORDER BY sequence`,
  agents: `${MANIFEST} WHERE is_newest = 1 AND agent > ? ORDER BY agent LIMIT ?`,
  offering: `${MANIFEST} WHERE is_newest = 1 AND agent IN (SELECT agent FROM capability WHERE name = ? AND agent > ? ORDER BY agent LIMIT ?) ORDER BY agent`,
  setting: "SELECT value FROM setting WHERE name = ?",
} as const;

type QueryName = keyof typeof QUERIES;

/** Every question that a store answers, from the file as the last commit left it. */
export class Reader {
  readonly #query: Readonly<Record<QueryName, StatementSync>>;

  constructor(database: DatabaseSync) {
    const prepared = Object.entries(QUERIES).map(([name, sql]) => [name, database.prepare(sql)]);
    this.#query = Object.fromEntries(prepared) as Record<QueryName, StatementSync>;
  }

  handoff(id: string): StoredHandoff | undefined {
    const row = this.#query.handoff.get(id);
    return row && handoffOf(row);
  }

  /** Reads them all, one at a time; throws for one that was changed. */
  checkHandoffs(): void {
    for (const row of this.#query.handoffs.iterate()) handoffOf(row);
  }

  due(now: number, limit: number): StoredHandoff[] {
    return this.#query.due.all(now, limit).map(handoffOf);
  }

  nextWakeAt(): number | null {
    return (this.#query.nextWakeAt.get()?.["wake_at"] as number | undefined) ?? null;
  }

  /** The handoffs of a name, by id. */
  found(
    by: "waiting" | "inbox" | "correlated" | "children" | "group",
    name: string,
    { after = "", limit }: Page<string>,
  ): StoredHandoff[] {
    return this.#query[by].all(name, after, limit).map(handoffOf);
  }

  deadLetters({ after = "", limit }: Page<string>): StoredHandoff[] {
    return this.#query.deadLetters.all(after, limit).map(handoffOf);
  }

  seen(from: string, envelopeId: string): Digest | undefined {
    return this.#query.seen.get(envelopeId, from)?.["digest"] as Digest | undefined;
  }

  ledger({ after = 0, limit }: Page<number>): LedgerEntry[] {
    return this.#query.ledger.all(after, limit).map(entryOf);
  }

  ledgerOf(handoffId: string, { after = 0, limit }: Page<number>): LedgerEntry[] {
    return this.#query.ledgerOf.all(handoffId, after, limit).map(entryOf);
  }

  manifest(agent: string): StoredManifest | undefined {
    const row = this.#query.manifest.get(agent);
    return row && manifestOf(row);
  }

  manifests(agent: string): StoredManifest[] {
    return this.#query.manifests.all(agent).map(manifestOf);
  }

  agents({ after = "", limit }: Page<string>): StoredManifest[] {
    return this.#query.agents.all(after, limit).map(manifestOf);
  }

  offering(capability: string, { after = "", limit }: Page<string>): StoredManifest[] {
    return this.#query.offering.all(capability, after, limit).map(manifestOf);
  }

  setting(name: string): string | undefined {
    return this.#query.setting.get(name)?.["value"] as string | undefined;
  }
}
