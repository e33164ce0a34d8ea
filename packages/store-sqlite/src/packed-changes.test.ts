import type { NewEntry, NewManifest, StoredHandoff } from "@waybill/hub/store";
import { digestOf } from "@waybill/protocol";
import { expect, test } from "vitest";
import { packChanges, unpackChanges } from "./packed-changes.ts";
import type { Change } from "./writer.ts";

const handoff: StoredHandoff = {
  id: "handoff",
  version: 7,
  record: "record",
  state: "dead_lettered",
  delegator: "delegator",
  correlationId: "job",
  parentId: "parent",
  groupId: "group",
  wakeAt: 11,
  waitsFor: "agent:somebody",
  waitsAt: 17,
  session: "session",
  sessionAt: 18,
  inboxes: ["one", "two"],
  isDeadLetter: true,
};
const bare: StoredHandoff = {
  ...handoff,
  parentId: null,
  groupId: null,
  wakeAt: null,
  waitsFor: null,
  waitsAt: 0,
  session: null,
  sessionAt: 0,
  inboxes: [],
  isDeadLetter: false,
};
const manifest: NewManifest = {
  agent: "agent",
  sequence: 3,
  digest: digestOf("manifest"),
  text: "manifest",
  at: 13,
  facts: "facts",
  keys: [
    { kid: "one", record: "first" },
    { kid: "two", record: "second" },
  ],
  capabilities: [
    { name: "write", version: "1", terms: "slow", text: "how to write", audiences: ["*"] },
    { name: "read", version: "2", terms: "quick", text: "how to read", audiences: [] },
  ],
};
const envelope: NewEntry = {
  at: 17,
  handoffId: "handoff",
  type: "envelope",
  content: "content",
  digest: digestOf("content"),
  replayKey: { from: "sender", id: "envelope" },
};
const decision: NewEntry = { ...envelope, handoffId: null, type: "decision", replayKey: null };

test("every change arrives in the thread as it was sent", () => {
  const kinds: Change[] = [
    { setting: "name", value: "value" },
    { handoff, entries: [envelope, decision] },
    { handoff: bare, entries: [] },
    { handoff: null, manifest, entries: [decision] },
    {
      handoff: null,
      keys: {
        agent: "agent",
        sequence: 3,
        facts: "other facts",
        keys: manifest.keys,
        isWithdrawn: true,
      },
      entries: [decision],
    },
    {
      handoff: null,
      entries: [],
      settings: [
        { name: "new", from: null, to: "value" },
        { name: "old", from: "value", to: null },
      ],
    },
    { handoff, manifest: { ...manifest, keys: [], capabilities: [] }, entries: [envelope] },
  ];
  for (const first of kinds) {
    for (const second of kinds) {
      const changes = [first, second, first];
      expect(unpackChanges(structuredClone(packChanges(changes)))).toEqual(changes);
    }
  }
  expect(unpackChanges(packChanges([]))).toEqual([]);
});
