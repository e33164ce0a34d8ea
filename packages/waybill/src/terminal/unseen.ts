import { MARK } from "./style.ts";

/**
 * Characters with which foreign text could control a terminal or hide something: controls (C0, DEL,
 * C1), format characters (bidirectional overrides and isolates, zero-width characters, soft hyphens,
 * tags), line separators, lone surrogates, and everything else that is invisible. Variation selectors
 * of emoji are kept.
 */
const UNSEEN =
  /(?![\ufe00-\ufe0f])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** The start and the end of our colours, and line breaks. */
const COLOR = new RegExp(String.raw`${MARK}(\[\d+m)`, "gu");
const PIECES = new RegExp(String.raw`(${MARK}\[\d+m|[\n\t]+)`, "u");

/** The text without its colours. */
export function withoutColors(text: string): string {
  return text.replace(COLOR, "");
}

/** Replaces each unseen character. */
export function withoutUnseen(text: string, instead: string): string {
  return text.replace(UNSEEN, instead);
}

/** A fast check that most text passes. */
const PLAIN = /^[\n\x20-\x7e]*$/;

/** Text that is safe for a terminal: lines and our own colours, nothing else. */
export function shown(text: string): string {
  if (PLAIN.test(text)) return text;
  return text
    .split(PIECES)
    .map((piece, index) =>
      // Odd pieces are the separators.
      index % 2 === 1 ? piece.replace(COLOR, "\u001b$1") : withoutUnseen(piece, "\ufffd"),
    )
    .join("");
}

/** JSON of the same value, with all characters visible. */
export function shownJson(json: string): string {
  if (PLAIN.test(json)) return json;
  return json.replace(UNSEEN, (character) =>
    character === "\n" ? character : [...unitsOf(character)].map(escaped).join(""),
  );
}

function* unitsOf(character: string): Generator<number> {
  for (let index = 0; index < character.length; index++) yield character.charCodeAt(index);
}

function escaped(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, "0")}`;
}
