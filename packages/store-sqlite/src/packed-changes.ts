import type {
  KeyChange,
  NewEntry,
  NewKey,
  NewManifest,
  SettingChange,
  StoredHandoff,
} from "@waybill/hub/store";
import type { Change } from "./writer.ts";

type Plain = string | number | null;

/**
 * Packs changes for another thread into one list. Objects would be cloned member by member, including
 * the names, which takes twice as long here and three times as long there.
 */
export type PackedChanges = readonly Plain[];

const SETTING = 0;
const COMMIT = 1;
const NOTHING = 0;
const SOMETHING = 1;

export function packChanges(changes: readonly Change[]): PackedChanges {
  const to: Plain[] = [];
  for (const change of changes) {
    if ("setting" in change) {
      to.push(SETTING, change.setting, change.value);
      continue;
    }
    to.push(COMMIT);
    packHandoff(to, change.handoff);
    packManifest(to, change.manifest);
    packKeyChange(to, change.keys);
    to.push(change.entries.length);
    for (const { at, handoffId, type, content, digest, replayKey } of change.entries) {
      const { from = null, id = null } = replayKey ?? {};
      to.push(at, handoffId, type, content, digest, from, id);
    }
    const { settings = [] } = change;
    to.push(settings.length);
    for (const { name, from, to: value } of settings) to.push(name, from, value);
  }
  return to;
}

function packHandoff(to: Plain[], handoff: StoredHandoff | null): void {
  if (handoff === null) {
    to.push(NOTHING);
    return;
  }
  const { id, version, record, state, delegator, correlationId, parentId, groupId } = handoff;
  const { wakeAt, waitsFor, waitsAt, session, sessionAt, isDeadLetter, inboxes } = handoff;
  to.push(SOMETHING, id, version, record, state, delegator, correlationId, parentId, groupId);
  to.push(wakeAt, waitsFor, waitsAt, session, sessionAt, Number(isDeadLetter));
  packNames(to, inboxes);
}

function packManifest(to: Plain[], manifest: NewManifest | undefined): void {
  if (manifest === undefined) {
    to.push(NOTHING);
    return;
  }
  const { agent, sequence, digest, text, at, facts, keys, capabilities } = manifest;
  to.push(SOMETHING, agent, sequence, digest, text, at, facts, keys.length);
  for (const { kid, record } of keys) to.push(kid, record);
  to.push(capabilities.length);
  for (const each of capabilities) {
    to.push(each.name, each.version, each.terms, each.text);
    packNames(to, each.audiences);
  }
}

function packKeyChange(to: Plain[], change: KeyChange | undefined): void {
  if (change === undefined) {
    to.push(NOTHING);
    return;
  }
  const { agent, sequence, facts, isWithdrawn, keys } = change;
  to.push(SOMETHING, agent, sequence, facts, Number(isWithdrawn), keys.length);
  for (const { kid, record } of keys) to.push(kid, record);
}

function packNames(to: Plain[], names: readonly string[]): void {
  to.push(names.length);
  for (const name of names) to.push(name);
}

export function unpackChanges(packed: PackedChanges): Change[] {
  let position = 0;
  const next = <Value extends Plain>(): Value => packed[position++] as Value;
  const several = <Value>(each: () => Value): Value[] => {
    const all: Value[] = [];
    for (let left = next<number>(); left > 0; left--) all.push(each());
    return all;
  };
  const handoff = (): StoredHandoff => ({
    id: next(),
    version: next(),
    record: next(),
    state: next(),
    delegator: next(),
    correlationId: next(),
    parentId: next(),
    groupId: next(),
    wakeAt: next(),
    waitsFor: next(),
    waitsAt: next(),
    session: next(),
    sessionAt: next(),
    isDeadLetter: next() === 1,
    inboxes: several<string>(next),
  });
  const key = (): NewKey => ({ kid: next(), record: next() });
  const manifest = (): NewManifest => ({
    agent: next(),
    sequence: next(),
    digest: next(),
    text: next(),
    at: next(),
    facts: next(),
    keys: several(key),
    capabilities: several(() => ({
      name: next<string>(),
      version: next<string>(),
      terms: next<string>(),
      text: next<string>(),
      audiences: several<string>(next),
    })),
  });
  const keyChange = (): KeyChange => ({
    agent: next(),
    sequence: next(),
    facts: next(),
    isWithdrawn: next() === 1,
    keys: several(key),
  });
  const entry = (): NewEntry => {
    const most = {
      at: next<number>(),
      handoffId: next<string | null>(),
      type: next<NewEntry["type"]>(),
      content: next<string>(),
      digest: next<NewEntry["digest"]>(),
    };
    const from = next<string | null>();
    const id = next<string | null>();
    return { ...most, replayKey: from === null ? null : { from, id: id! } };
  };
  const setting = (): SettingChange => ({
    name: next(),
    from: next<string | null>(),
    to: next<string | null>(),
  });
  const changes: Change[] = [];
  while (position < packed.length) {
    if (next() === SETTING) {
      changes.push({ setting: next(), value: next() });
      continue;
    }
    const stored = next() === NOTHING ? null : handoff();
    const published = next() === NOTHING ? {} : { manifest: manifest() };
    const changed = next() === NOTHING ? {} : { keys: keyChange() };
    const entries = several(entry);
    const settings = several(setting);
    changes.push({
      handoff: stored,
      ...published,
      ...changed,
      entries,
      ...(settings.length > 0 && { settings }),
    });
  }
  return changes;
}
