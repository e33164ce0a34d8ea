/// <reference types="node" />
import { Buffer } from "node:buffer";

const UUID_OR_HASH = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{64}/g;
const UUID_CHARACTERS = 36;
const UUID_BYTES = 16;
const HASH_BYTES = 32;
const PIECE_CHARACTERS = { min: 4, max: 96 };
/** As many as two characters can count. */
const NUMBERS = 0x10000;

// What follows in a packed text.
const PIECE = "\u0001";
const UUID = "\u0002";
const HASH = "\u0003";
const LITERAL = "\u0004";

/**
 * Short spellings of JSON texts that are much alike. What stands between two commas is kept once
 * when it comes again, ids and hashes as bytes, and all of it in strings with a byte a character.
 */
export class TextPacker {
  readonly #pieces: string[] = [];
  /** How each piece is spelled. */
  readonly #codes = new Map<string, string>();
  /** Hashes of what was seen once: what never comes again is not to be kept for ever. */
  readonly #once = new Int32Array(1 << 14);

  pack(text: string): string {
    const packed: string[] = [];
    for (let start = 0; start < text.length;) {
      const comma = text.indexOf(",", start);
      const end = comma < 0 ? text.length : comma + 1;
      this.#packPart(text.slice(start, end), packed);
      start = end;
    }
    return packed.join("");
  }

  unpack(packed: string): string {
    const text: string[] = [];
    for (let at = 0; at < packed.length;) {
      const tag = packed[at++];
      if (tag === LITERAL) {
        const end = at + 2 + numberAt(packed, at);
        text.push(packed.slice(at + 2, end));
        at = end;
      } else if (tag === PIECE) {
        text.push(this.#pieces[numberAt(packed, at)]!);
        at += 2;
      } else {
        const end = at + (tag === UUID ? UUID_BYTES : HASH_BYTES);
        const hex = Buffer.from(packed.slice(at, end), "latin1").toString("hex");
        text.push(tag === UUID ? withHyphens(hex) : hex);
        at = end;
      }
    }
    return text.join("");
  }

  #packPart(part: string, packed: string[]): void {
    const code = this.#codes.get(part);
    if (code !== undefined) {
      packed.push(code);
      return;
    }
    let at = 0;
    if (part.length >= UUID_CHARACTERS) {
      UUID_OR_HASH.lastIndex = 0;
      for (let found = UUID_OR_HASH.exec(part); found !== null; found = UUID_OR_HASH.exec(part)) {
        const [name] = found;
        if (found.index > at) this.#packPiece(part.slice(at, found.index), packed);
        const isUuid = name.length === UUID_CHARACTERS;
        const hex = isUuid ? name.replaceAll("-", "") : name;
        packed.push(isUuid ? UUID : HASH, Buffer.from(hex, "hex").toString("latin1"));
        at = found.index + name.length;
      }
    }
    if (at < part.length) this.#packPiece(at === 0 ? part : part.slice(at), packed);
  }

  #packPiece(piece: string, packed: string[]): void {
    const code = this.#codes.get(piece) ?? this.#newCode(piece);
    if (code !== undefined) {
      packed.push(code);
      return;
    }
    for (let at = 0; at < piece.length; at += NUMBERS - 1) {
      const literal = piece.slice(at, at + NUMBERS - 1);
      packed.push(LITERAL, characters(literal.length), literal);
    }
  }

  /** A piece gets a code when it comes for the second time. */
  #newCode(piece: string): string | undefined {
    const { min, max } = PIECE_CHARACTERS;
    if (piece.length < min || piece.length > max || this.#pieces.length === NUMBERS) {
      return undefined;
    }
    const hash = hashOf(piece);
    const slot = hash & (this.#once.length - 1);
    if (this.#once[slot] !== hash) {
      this.#once[slot] = hash;
      return undefined;
    }
    // A copy: a slice would keep the whole text that it was cut from.
    const own = Buffer.from(piece, "utf16le").toString("utf16le");
    const code = PIECE + characters(this.#pieces.push(own) - 1);
    this.#codes.set(own, code);
    return code;
  }
}

/** FNV-1a. That two pieces share one does no harm: one of them gets its code too early. */
function hashOf(piece: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < piece.length; at++) {
    hash = Math.imul(hash ^ piece.charCodeAt(at), 0x01000193);
  }
  return hash;
}

function characters(number: number): string {
  return String.fromCharCode(number >> 8, number & 0xff);
}

function numberAt(packed: string, at: number): number {
  return (packed.charCodeAt(at) << 8) | packed.charCodeAt(at + 1);
}

function withHyphens(hex: string): string {
  const parts = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20)];
  return `${parts.join("-")}-${hex.slice(20)}`;
}
