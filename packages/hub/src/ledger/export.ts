import { isDigest, parseJson, parseTime, WaybillError } from "@waybill/protocol";
import type { WireEntry } from "@waybill/protocol/wire";
import { entriesOf, EntryPages } from "../page.ts";
import type { LedgerEntry, Store } from "../store.ts";
import { timeText } from "./chain-text.ts";

const PAGE = 500;
/** Far above the largest envelope in escaped form: a file without lines is refused early. */
const LINE_CHARACTERS_MAX = 64 * 1024 * 1024;
/** How much of an entry's content is in one piece of its line. */
export const LINE_PIECE_CHARACTERS: number = 64 * 1024;
const TYPES: ReadonlySet<unknown> = new Set(["envelope", "manifest", "decision"]);

/** The entries of a store, page by page, as they were when each page was read. */
export function ledgerEntries(
  store: Pick<Store, "ledger">,
  after = 0,
): AsyncGenerator<LedgerEntry> {
  return entriesOf((page) => store.ledger(page), after, PAGE);
}

/** The same as pages. */
export function ledgerPages(store: Pick<Store, "ledger">, after = 0): EntryPages {
  return new EntryPages((page) => store.ledger(page), after, PAGE);
}

/** The ledger as NDJSON: one entry a line, closed by a line feed, every envelope verbatim. */
export async function* exportLedger(
  store: Pick<Store, "ledger">,
  after = 0,
): AsyncGenerator<string> {
  for await (const entry of ledgerEntries(store, after)) yield ledgerLine(entry);
}

/** One line of the export, with its line feed. */
export function ledgerLine(entry: LedgerEntry): string {
  return `${JSON.stringify(writeEntry(entry))}\n`;
}

/**
 * The same line in pieces, each made on demand: of a long line one piece is in memory, and not the
 * whole of it beside the entry.
 */
export function* ledgerLinePieces(entry: LedgerEntry): Generator<string> {
  const { content, hash } = entry;
  if (content.length <= LINE_PIECE_CHARACTERS) return void (yield ledgerLine(entry));
  const tail = `","hash":${JSON.stringify(hash)}}\n`;
  yield ledgerLine({ ...entry, content: "" }).slice(0, -tail.length);
  for (let from = 0; from < content.length;) {
    const to = endOfPiece(content, from + LINE_PIECE_CHARACTERS);
    const piece = content.slice(from, to);
    yield IS_PLAIN.test(piece) ? piece : JSON.stringify(piece).slice(1, -1);
    from = to;
  }
  yield tail;
}

/** Text of envelopes, which JSON writes as it is: no copy of it is made. */
const IS_PLAIN = /^[\w.-]*$/;

/** A surrogate pair is never split: each half would be encoded otherwise. */
function endOfPiece(text: string, end: number): number {
  const last = text.charCodeAt(end - 1);
  return last >= 0xd800 && last < 0xdc00 ? end + 1 : end;
}

/** An entry as it is sent. */
export function writeEntry(entry: LedgerEntry): WireEntry {
  const { sequence, at, type, handoffId, replayKey, digest, content, hash } = entry;
  return {
    sequence,
    at: timeText(at),
    type,
    handoff_id: handoffId,
    from: replayKey?.from ?? null,
    id: replayKey?.id ?? null,
    digest,
    content,
    hash,
  };
}

/** The entries of an export, in chunks of any size; throws a 400 for an invalid line. */
export async function* readLedger(
  text: Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>,
): AsyncGenerator<LedgerEntry> {
  let number = 0;
  for await (const line of linesOf(text)) yield entryOf(line, ++number);
}

async function* linesOf(
  text: Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>,
): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let parts: string[] = [];
  let length = 0;
  for await (const piece of text) {
    const lines = decode(piece).split("\n");
    const rest = lines.pop()!;
    for (const line of lines) {
      parts.push(line);
      yield parts.join("");
      parts = [];
      length = 0;
    }
    parts.push(rest);
    length += rest.length;
    if (length > LINE_CHARACTERS_MAX) throw unreadable("a line is far longer than any entry");
  }
  if (length > 0 || decode() !== "") throw unreadable("the last line does not end");

  function decode(piece?: string | Uint8Array): string {
    if (typeof piece === "string") return piece;
    try {
      return piece === undefined ? decoder.decode() : decoder.decode(piece, { stream: true });
    } catch (cause) {
      throw unreadable("it is not UTF-8", cause);
    }
  }
}

function entryOf(line: string, number: number): LedgerEntry {
  const value = parse(line, number);
  const { sequence, at, type, handoff_id, from, id, digest, content, hash } = value;
  const isEntry =
    Number.isSafeInteger(sequence) &&
    TYPES.has(type) &&
    isTextOrNull(handoff_id) &&
    isTextOrNull(from) &&
    isTextOrNull(id) &&
    (from === null) === (id === null) &&
    isDigest(digest) &&
    typeof content === "string" &&
    isDigest(hash);
  const time = typeof at === "string" ? parseTime(at) : undefined;
  if (!isEntry || time === undefined) throw unreadable(`line ${number} is not an entry`);
  const entry: LedgerEntry = {
    sequence: sequence as number,
    at: time,
    type: type as LedgerEntry["type"],
    handoffId: handoff_id,
    replayKey: from === null ? null : { from, id: id as string },
    digest,
    content,
    hash,
  };
  // Each entry has one spelling: a changed byte shows even where JSON would ignore it.
  if (ledgerLine(entry) !== `${line}\n`) {
    throw unreadable(`line ${number} is spelled in another way than an export does`);
  }
  return entry;
}

function parse(line: string, number: number): Record<string, unknown> {
  try {
    const value: unknown = parseJson(line, { envelopeBytes: LINE_CHARACTERS_MAX });
    if (typeof value === "object" && value !== null) return value as Record<string, unknown>;
  } catch (cause) {
    throw unreadable(`line ${number} is not JSON`, cause);
  }
  throw unreadable(`line ${number} is not an entry`);
}

function isTextOrNull(value: unknown): value is string | null {
  return value === null || typeof value === "string";
}

function unreadable(reason: string, cause?: unknown): WaybillError {
  return new WaybillError(400, `This ledger can't be read: ${reason}.`, { cause });
}
