/// <reference types="node" />
import { Buffer, isUtf8 } from "node:buffer";
import { digestOf } from "@waybill/protocol";
import type { Digest } from "@waybill/protocol";
import { EMPTY_LEDGER } from "../ledger/chain.ts";
import type { LedgerEntry, LedgerHead } from "../store.ts";
import type { TextPacker } from "./packed-text.ts";

const TYPES: readonly LedgerEntry["type"][] = ["envelope", "manifest", "decision"];
const PREFIX = "sha256:";
const NONE = 0xffff_ffff;

// Where the parts of fixed length stand.
const AT = 0;
const BEFORE = 8;
const SENDER = 12;
const HEADER = 16;
const TYPE = 20;
const HASH = 21;
const FIXED_BYTES = 53;

/**
 * The entries, each as one string with a byte a character: a third of what the objects would take.
 * Base64url and hex are undone, and the header of a key and the name of a sender kept once.
 */
export class PackedLedger {
  readonly #entries: string[] = [];
  readonly #names: string[] = [];
  readonly #numbers = new Map<string, number>();
  readonly #texts: TextPacker;
  readonly #fixed = Buffer.alloc(FIXED_BYTES);

  constructor(texts: TextPacker) {
    this.#texts = texts;
  }

  get head(): LedgerHead {
    const sequence = this.#entries.length;
    return sequence === 0 ? EMPTY_LEDGER : { sequence, hash: this.entry(sequence).hash };
  }

  /** `before` is the entry before this one about the same handoff, 0 where there is none. */
  push(entry: LedgerEntry, before: number): void {
    const { replayKey, content } = entry;
    const jws = readJws(content);
    this.#fixed.writeDoubleLE(entry.at, AT);
    this.#fixed.writeUInt32LE(before, BEFORE);
    this.#fixed.writeUInt32LE(replayKey === null ? NONE : this.#numberOf(replayKey.from), SENDER);
    this.#fixed.writeUInt32LE(jws === undefined ? NONE : this.#numberOf(jws.header), HEADER);
    this.#fixed.writeUInt8(TYPES.indexOf(entry.type), TYPE);
    this.#fixed.write(entry.hash.slice(PREFIX.length), HASH, "hex");
    const digest = digestOf(content) === entry.digest ? null : entry.digest;
    const texts = [entry.handoffId, replayKey?.id ?? null, digest, jws?.payload ?? content];
    const fields = texts.map((text) => (text === null ? length(NONE) : this.#field(text)));
    const fixed = this.#fixed.toString("latin1");
    this.#entries.push([fixed, ...fields, jws?.signature ?? ""].join(""));
  }

  entry(sequence: number): LedgerEntry {
    const packed = this.#entries[sequence - 1]!;
    const fixed = Buffer.from(packed.slice(0, FIXED_BYTES), "latin1");
    let at = FIXED_BYTES;
    const next = (): string | null => {
      const size = lengthAt(packed, at);
      at += 4;
      if (size === NONE) return null;
      at += size;
      return this.#texts.unpack(packed.slice(at - size, at));
    };
    const handoffId = next();
    const id = next();
    const digest = next() as Digest | null;
    const text = next()!;
    const header = this.#names[fixed.readUInt32LE(HEADER)];
    const content =
      header === undefined
        ? text
        : `${header}.${base64url(text, "utf8")}.${base64url(packed.slice(at), "latin1")}`;
    const from = this.#names[fixed.readUInt32LE(SENDER)];
    return {
      at: fixed.readDoubleLE(AT),
      handoffId,
      type: TYPES[fixed.readUInt8(TYPE)]!,
      content,
      digest: digest ?? digestOf(content),
      replayKey: from === undefined ? null : { from, id: id! },
      sequence,
      hash: `${PREFIX}${fixed.toString("hex", HASH)}`,
    };
  }

  before(sequence: number): number {
    const packed = this.#entries[sequence - 1]!;
    return Buffer.from(packed.slice(BEFORE, BEFORE + 4), "latin1").readUInt32LE();
  }

  #field(text: string): string {
    const packed = this.#texts.pack(text);
    return length(packed.length) + packed;
  }

  #numberOf(name: string): number {
    let number = this.#numbers.get(name);
    if (number === undefined) {
      number = this.#names.push(name) - 1;
      this.#numbers.set(name, number);
    }
    return number;
  }
}

/** The parts of a JWS, where they are text and bytes that are spelled in this way and no other. */
function readJws(
  content: string,
): { header: string; payload: string; signature: string } | undefined {
  const [header, payload, signature, more] = content.split(".", 4);
  if (payload === undefined || signature === undefined || more !== undefined) return undefined;
  const text = Buffer.from(payload, "base64url");
  const bytes = Buffer.from(signature, "base64url");
  const isStrict =
    isUtf8(text) &&
    text.toString("base64url") === payload &&
    bytes.toString("base64url") === signature;
  if (!isStrict) return undefined;
  return { header: header!, payload: text.toString("utf8"), signature: bytes.toString("latin1") };
}

function base64url(text: string, encoding: "utf8" | "latin1"): string {
  return Buffer.from(text, encoding).toString("base64url");
}

function length(value: number): string {
  return String.fromCharCode(
    value >>> 24,
    (value >>> 16) & 0xff,
    (value >>> 8) & 0xff,
    value & 0xff,
  );
}

function lengthAt(packed: string, at: number): number {
  const byte = (offset: number) => packed.charCodeAt(at + offset);
  return ((byte(0) << 24) | (byte(1) << 16) | (byte(2) << 8) | byte(3)) >>> 0;
}
