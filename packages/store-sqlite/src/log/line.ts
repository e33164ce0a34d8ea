/// <reference types="node" />
import type {
  KeyChange,
  LedgerEntry,
  NewManifest,
  SettingChange,
  StoredHandoff,
} from "@waybill/hub/store";

/**
 * What the body of a frame holds, one line each. The lines of a group are applied in order, and all
 * or none of them: a commit has no line of its own.
 */
export type Line =
  | { readonly type: "entry"; readonly entry: LedgerEntry }
  | { readonly type: "handoff"; readonly handoff: StoredHandoff }
  | { readonly type: "manifest"; readonly manifest: NewManifest }
  | { readonly type: "keys"; readonly keys: KeyChange }
  | { readonly type: "setting"; readonly setting: Omit<SettingChange, "from"> };

/** The first character of a line, after the bracket and the quote. */
const ENTRY = '["e"';

export function entryLine(entry: LedgerEntry): string {
  return lineOfEntry(entry, text(entry.content, "content"));
}

/**
 * The same, so that it compresses better: of an envelope, the payload is written as it was before it
 * was encoded, if that gives the same string again.
 */
export function openedEntryLine(entry: LedgerEntry): string {
  const [header, encoded, signature, ...rest] = entry.content.split(".");
  if (encoded === undefined || signature === undefined || rest.length > 0) return entryLine(entry);
  const payload = Buffer.from(encoded, "base64url").toString("utf8");
  const isSame = encode(payload) === encoded;
  return isSame ? lineOfEntry(entry, [header!, payload, signature]) : entryLine(entry);
}

function encode(payload: string): string {
  return Buffer.from(payload, "utf8").toString("base64url");
}

function lineOfEntry(entry: LedgerEntry, content: string | readonly string[]): string {
  const { sequence, at, type, handoffId, replayKey, digest, hash } = entry;
  const { from = null, id = null } = replayKey ?? {};
  return line("e", [
    content,
    whole(sequence),
    whole(at),
    text(type, "type"),
    textOrNull(handoffId),
    textOrNull(from),
    textOrNull(id),
    text(digest, "digest"),
    text(hash, "hash"),
  ]);
}

export function handoffLine(handoff: StoredHandoff): string {
  const { id, version, record, state, delegator, correlationId, parentId, groupId } = handoff;
  const { wakeAt, waitsFor, waitsAt, session, sessionAt, isDeadLetter, inboxes } = handoff;
  return line("h", [
    text(id, "id"),
    whole(version),
    text(record, "record"),
    text(state, "state"),
    text(delegator, "delegator"),
    text(correlationId, "correlationId"),
    textOrNull(parentId),
    textOrNull(groupId),
    wakeAt === null ? null : whole(wakeAt),
    textOrNull(waitsFor),
    whole(waitsAt),
    textOrNull(session),
    whole(sessionAt),
    isDeadLetter ? 1 : 0,
    ...inboxes.map((name) => text(name, "inbox")),
  ]);
}

export function manifestLine(manifest: NewManifest): string {
  text(manifest.text, "text");
  return line("m", [manifest]);
}

export function keysLine(keys: KeyChange): string {
  return line("k", [keys]);
}

export function settingLine(name: string, to: string | null): string {
  return line("s", [text(name, "name"), textOrNull(to)]);
}

function line(type: string, members: readonly unknown[]): string {
  return `${JSON.stringify([type, ...members])}\n`;
}

/** The index is typed, so what it would refuse later is refused before it is in the log. */
function text<Value>(value: Value, name: string): Value {
  if (typeof value !== "string") throw new TypeError(`${name} is not a text`);
  return value;
}

function textOrNull<Value>(value: Value): Value {
  return value === null ? value : text(value, "a member");
}

function whole(value: number): number {
  if (!Number.isSafeInteger(value)) throw new TypeError(`${value} is not a whole number`);
  return value;
}

type Members = readonly never[];

const PARSERS: Readonly<Record<string, (members: Members) => Line>> = {
  e: ([content, sequence, at, type, handoffId, from, id, digest, hash]) => ({
    type: "entry",
    entry: {
      at: at!,
      handoffId: handoffId!,
      type: type!,
      content: contentOf(content!),
      digest: digest!,
      replayKey: from === null ? null : { from: from!, id: id! },
      sequence: sequence!,
      hash: hash!,
    },
  }),
  h: ([id, version, record, state, delegator, correlationId, parentId, groupId, ...rest]) => {
    const [wakeAt, waitsFor, waitsAt, session, sessionAt, isDeadLetter, ...inboxes] = rest;
    return {
      type: "handoff",
      handoff: {
        id: id!,
        version: version!,
        record: record!,
        state: state!,
        delegator: delegator!,
        correlationId: correlationId!,
        parentId: parentId!,
        groupId: groupId!,
        wakeAt: wakeAt!,
        waitsFor: waitsFor!,
        waitsAt: waitsAt!,
        session: session!,
        sessionAt: sessionAt!,
        isDeadLetter: isDeadLetter === 1,
        inboxes,
      },
    };
  },
  m: ([manifest]) => ({ type: "manifest", manifest: manifest! }),
  k: ([keys]) => ({ type: "keys", keys: keys! }),
  s: ([name, to]) => ({ type: "setting", setting: { name: name!, to: to! } }),
};

function contentOf(content: string | readonly [string, string, string]): string {
  if (typeof content === "string") return content;
  const [header, payload, signature] = content;
  return `${header}.${encode(payload)}.${signature}`;
}

/** Throws for text that no release of this version wrote. */
export function parseLine(written: string): Line {
  const [type, ...members] = JSON.parse(written) as [string, ...never[]];
  const parse = PARSERS[type];
  if (parse === undefined) throw new Error(`a line of the unknown type ${type}`);
  return parse(members);
}

/** A line of a body, without parsing it, and where it begins and ends there. */
export interface WrittenLine {
  readonly text: string;
  readonly from: number;
  readonly to: number;
}

const LINE_FEED = 10;

export function* linesOf(body: Buffer): Generator<WrittenLine> {
  for (let from = 0; from < body.length;) {
    const end = body.indexOf(LINE_FEED, from);
    const to = end === -1 ? body.length : end + 1;
    yield { text: body.toString("utf8", from, to - 1), from, to };
    from = to;
  }
}

export function isEntryLine(written: string): boolean {
  return written.startsWith(ENTRY);
}
