/// <reference types="node" />
import type { DatabaseSync } from "node:sqlite";
import { beginLog } from "./begin-log.ts";
import { fillRegistry } from "./fill-registry.ts";

/** "WBLL": distinguishes a store from the SQLite files of other applications. */
export const APPLICATION_ID = 0x57424c4c;

/** SQL, or a function that fills new tables from old ones. */
export type Migration = string | ((database: DatabaseSync) => void);

/**
 * The migration to each version from the one before: the version of a file is the number of migrations
 * it has seen. A released line never changes.
 */
export const MIGRATIONS: readonly Migration[] = [
  `
  CREATE TABLE handoff (
    id TEXT PRIMARY KEY NOT NULL,
    version INTEGER NOT NULL,
    state TEXT NOT NULL,
    delegator TEXT NOT NULL,
    correlation_id TEXT NOT NULL,
    parent_id TEXT,
    group_id TEXT,
    wake_at INTEGER,
    waits_for TEXT,
    inboxes TEXT NOT NULL,
    is_dead_letter INTEGER NOT NULL,
    record TEXT NOT NULL
  ) STRICT;
  CREATE INDEX handoff_correlation ON handoff (correlation_id, id);
  CREATE INDEX handoff_parent ON handoff (parent_id, id) WHERE parent_id IS NOT NULL;
  CREATE INDEX handoff_group ON handoff (group_id, id) WHERE group_id IS NOT NULL;
  CREATE INDEX handoff_wake ON handoff (wake_at, id) WHERE wake_at IS NOT NULL;
  CREATE INDEX handoff_waiting ON handoff (waits_for, id) WHERE waits_for IS NOT NULL;
  CREATE INDEX handoff_dead_letter ON handoff (id) WHERE is_dead_letter = 1;

  CREATE TABLE inbox (
    agent TEXT NOT NULL,
    handoff_id TEXT NOT NULL,
    PRIMARY KEY (agent, handoff_id)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE ledger (
    sequence INTEGER PRIMARY KEY NOT NULL,
    at INTEGER NOT NULL,
    type TEXT NOT NULL,
    handoff_id TEXT,
    sender TEXT,
    envelope_id TEXT,
    digest TEXT NOT NULL,
    hash TEXT NOT NULL,
    content TEXT NOT NULL
  ) STRICT;
  CREATE INDEX ledger_handoff ON ledger (handoff_id, sequence) WHERE handoff_id IS NOT NULL;
  CREATE UNIQUE INDEX ledger_replay ON ledger (envelope_id, sender) WHERE envelope_id IS NOT NULL;

  CREATE TABLE manifest (
    agent TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    is_newest INTEGER NOT NULL,
    at INTEGER NOT NULL,
    digest TEXT NOT NULL,
    capabilities TEXT NOT NULL,
    content TEXT NOT NULL,
    PRIMARY KEY (agent, sequence)
  ) STRICT;
  CREATE UNIQUE INDEX manifest_newest ON manifest (agent) WHERE is_newest = 1;

  CREATE TABLE capability (
    name TEXT NOT NULL,
    agent TEXT NOT NULL,
    PRIMARY KEY (name, agent)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE setting (
    name TEXT PRIMARY KEY NOT NULL,
    value TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
  `
  ALTER TABLE handoff ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE handoff ADD COLUMN family_checksum INTEGER NOT NULL DEFAULT 0;
  UPDATE handoff SET
    checksum = handoff_checksum(id, version, state, wake_at, waits_for, inboxes, is_dead_letter, record),
    family_checksum = handoff_family_checksum(id, delegator, correlation_id, parent_id, group_id);
  `,
  (database) => {
    database.exec(`
      ALTER TABLE manifest ADD COLUMN facts TEXT NOT NULL DEFAULT '{}';
      ALTER TABLE manifest DROP COLUMN capabilities;

      CREATE TABLE agent_key (
        kid TEXT PRIMARY KEY NOT NULL,
        agent TEXT NOT NULL,
        record TEXT NOT NULL,
        checksum INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID;

      DROP TABLE capability;
      CREATE TABLE capability (
        name TEXT NOT NULL,
        agent TEXT NOT NULL,
        version TEXT NOT NULL,
        terms TEXT NOT NULL,
        characters INTEGER NOT NULL,
        content TEXT NOT NULL,
        PRIMARY KEY (name, agent, version)
      ) STRICT;
      CREATE INDEX capability_agent ON capability (agent, name, version);

      CREATE TABLE capability_name (
        name TEXT PRIMARY KEY NOT NULL,
        agents INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID;

      DROP INDEX handoff_group;
      CREATE INDEX handoff_group ON handoff (delegator, group_id, id) WHERE group_id IS NOT NULL;
      CREATE INDEX handoff_dead_letter_of ON handoff (delegator, id) WHERE is_dead_letter = 1;
    `);
    fillRegistry(database);
  },
  `
  ALTER TABLE handoff ADD COLUMN waits_at INTEGER NOT NULL DEFAULT 0;
  DROP INDEX handoff_waiting;
  CREATE INDEX handoff_waiting ON handoff (waits_for, waits_at, id) WHERE waits_for IS NOT NULL;
  `,
  `
  CREATE TABLE audience (
    audience TEXT NOT NULL,
    name TEXT NOT NULL,
    agent TEXT NOT NULL,
    version TEXT NOT NULL,
    PRIMARY KEY (audience, name, agent, version)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX audience_agent ON audience (agent, name, audience);

  CREATE TABLE audience_name (
    audience TEXT NOT NULL,
    name TEXT NOT NULL,
    agents INTEGER NOT NULL,
    PRIMARY KEY (audience, name)
  ) STRICT, WITHOUT ROWID;

  INSERT INTO audience SELECT '*', name, agent, version FROM capability;
  INSERT INTO audience_name SELECT '*', name, agents FROM capability_name;
  `,
  `
  ALTER TABLE handoff ADD COLUMN session TEXT;
  ALTER TABLE handoff ADD COLUMN session_at INTEGER NOT NULL DEFAULT 0;
  CREATE INDEX handoff_session ON handoff (session, session_at, id) WHERE session IS NOT NULL;
  `,
  (database) => {
    database.exec(`
      CREATE TABLE log_place (place TEXT NOT NULL) STRICT;

      CREATE TABLE block (
        sequence INTEGER PRIMARY KEY NOT NULL,
        segment INTEGER NOT NULL,
        position INTEGER NOT NULL,
        length INTEGER NOT NULL
      ) STRICT;

      CREATE TABLE entry (
        handoff_id ANY NOT NULL,
        sequence INTEGER NOT NULL,
        mark INTEGER NOT NULL,
        PRIMARY KEY (handoff_id, sequence)
      ) STRICT, WITHOUT ROWID;

      CREATE TABLE seen (
        envelope_id ANY NOT NULL,
        sender TEXT NOT NULL,
        sequence INTEGER NOT NULL,
        PRIMARY KEY (envelope_id, sender)
      ) STRICT, WITHOUT ROWID;
    `);
    beginLog(database);
    database.exec("DROP INDEX ledger_handoff; DROP INDEX ledger_replay");
  },
];
