import { digestOf, digestOfJws, privateKeyFrom, signCompact } from "@waybill/protocol";
import type {
  Commit,
  ManifestCard,
  NewCapability,
  NewEntry,
  NewKey,
  NewManifest,
  StoredHandoff,
} from "@waybill/hub/store";

/** The nth id of a run: compared ids rise with n. */
export function idOf(number: number): string {
  return `01900000-0000-7000-8000-${number.toString(16).padStart(12, "0")}`;
}

export const AT = 1_760_000_000_000;

export function sampleHandoff(number: number, members: Partial<StoredHandoff> = {}): StoredHandoff {
  return {
    id: idOf(number),
    version: 1,
    record: `{"number":${number}}`,
    state: "open",
    delegator: "editor",
    correlationId: idOf(900_000 + number),
    parentId: null,
    groupId: null,
    wakeAt: null,
    waitsFor: null,
    waitsAt: 0,
    session: null,
    sessionAt: 0,
    inboxes: [],
    isDeadLetter: false,
    ...members,
  };
}

export function sampleEntry(content: string, members: Partial<NewEntry> = {}): NewEntry {
  return {
    at: AT,
    handoffId: null,
    type: "decision",
    content,
    digest: digestOf(content),
    replayKey: null,
    ...members,
  };
}

const KEY = privateKeyFrom(new Uint8Array(32).fill(1));

/** A signed text; a store does not read what it says. */
function sampleText(payload: string): string {
  return signCompact(JSON.stringify(payload), KEY);
}

/** An envelope with a replay key. */
export function sampleEnvelope(number: number, members: Partial<NewEntry> = {}): NewEntry {
  const content = sampleText(`envelope ${number}`);
  return sampleEntry(content, {
    type: "envelope",
    digest: digestOfJws(content),
    handoffId: idOf(number),
    replayKey: { from: "editor", id: idOf(500_000 + number) },
    ...members,
  });
}

/** A manifest that offers these, each named with its version if that is not 1. */
export function sampleManifest(
  agent: string,
  sequence: number,
  offered: readonly string[] = [],
  keys: readonly NewKey[] = [sampleKey(`key of ${agent}`)],
): NewManifest {
  const text = sampleText(`manifest ${sequence} of ${agent}`);
  const facts = `{"number":${sequence}}`;
  const capabilities = offered.map((each) => sampleCapability(each));
  return { agent, sequence, digest: digestOfJws(text), at: AT, facts, text, keys, capabilities };
}

export function sampleKey(kid: string, record = "{}"): NewKey {
  return { kid, record };
}

/** For everybody by default. */
export function sampleCapability(
  offered: string,
  audiences: readonly string[] = ["*"],
): NewCapability {
  const [name = "", version = "1"] = offered.split(" ");
  return { name, version, terms: `{"of":"${offered}"}`, text: `{"name":"${name}"} `, audiences };
}

/** The manifest without its index entries and its text. */
export function cardOf(manifest: NewManifest): ManifestCard {
  const { agent, sequence, digest, at, facts } = manifest;
  return { agent, sequence, digest, at, facts };
}

export function commitOf(handoff: StoredHandoff | null, ...entries: NewEntry[]): Commit {
  return { handoff, entries };
}

export function manifestCommit(manifest: NewManifest): Commit {
  const { text, digest } = manifest;
  return { handoff: null, manifest, entries: [sampleEntry(text, { type: "manifest", digest })] };
}

/** Changes keys of an agent without a manifest; `sequence` is that of its newest one. */
export function keyCommit(
  agent: string,
  sequence: number,
  facts: string,
  ...keys: NewKey[]
): Commit {
  const change = { agent, sequence, facts, keys, isWithdrawn: false };
  return { handoff: null, keys: change, entries: [sampleEntry(facts)] };
}
