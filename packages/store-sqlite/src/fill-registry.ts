/// <reference types="node" />
import type { DatabaseSync } from "node:sqlite";
import { rowsOfManifests } from "@waybill/hub/store";
import type { NewCapability } from "@waybill/hub/store";
import { keyChecksumOf } from "./checksum.ts";

/** Fills the tables by which manifests are found, in a file that has only their texts. */
export function fillRegistry(database: DatabaseSync): void {
  const run = {
    manifests: database.prepare(
      "SELECT content AS text, at FROM manifest WHERE agent = ? ORDER BY sequence",
    ),
    facts: database.prepare("UPDATE manifest SET facts = ? WHERE agent = ? AND sequence = ?"),
    // A key that two agents listed in a race belongs to the first.
    key: database.prepare(
      "INSERT INTO agent_key VALUES (?, ?, ?, ?) ON CONFLICT (kid) DO UPDATE SET record = excluded.record, checksum = excluded.checksum WHERE agent = excluded.agent",
    ),
    capability: database.prepare("INSERT INTO capability VALUES (?, ?, ?, ?, ?, ?)"),
  };
  for (const { agent } of database.prepare("SELECT DISTINCT agent FROM manifest").all()) {
    const manifests = run.manifests.all(agent!) as unknown as { text: string; at: number }[];
    let offered: readonly NewCapability[] = [];
    for (const { sequence, facts, keys, capabilities } of rowsOfManifests(manifests)) {
      offered = capabilities;
      run.facts.run(facts, agent!, sequence);
      for (const { kid, record } of keys) {
        const checksum = keyChecksumOf({ kid, agent: agent as string, record });
        run.key.run(kid, agent!, record, checksum);
      }
    }
    for (const { name, version, terms, text } of offered) {
      run.capability.run(name, agent!, version, terms, text.length, text);
    }
  }
  database.exec(
    "INSERT INTO capability_name SELECT name, count(DISTINCT agent) FROM capability GROUP BY name",
  );
}
