import { MARK } from "./style.ts";

/**
 * What a stranger's text could steer a terminal with, or hide in it: controls (C0, DEL, C1), format
 * characters (bidirectional overrides and isolates, zero-width and soft ones, tags), separators of
 * lines, halves of surrogate pairs, and whatever else is shown as nothing. The selectors of how an
 * emoji is drawn stay.
 */
const UNSEEN =
  /(?![\ufe00-\ufe0f])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** What colours begin and end with here, and what parts lines. */
const COLOR = new RegExp(String.raw`${MARK}(\[\d+m)`, "gu");
const PIECES = new RegExp(String.raw`(${MARK}\[\d+m|[\n\t]+)`, "u");

/** The text without its colours. */
export function withoutColors(text: string): string {
  return text.replace(COLOR, "");
}

/** In the place of each of them. */
export function withoutUnseen(text: string, instead: string): string {
  return text.replace(UNSEEN, instead);
}

/** Most of what is written: looked at in a fraction of the time. */
const PLAIN = /^[\n\x20-\x7e]*$/;

/** Text as it may reach a terminal: in lines, in our own colours, and nothing else. */
export function shown(text: string): string {
  if (PLAIN.test(text)) return text;
  return text
    .split(PIECES)
    .map((piece, index) =>
      // Every other one is what the text was split at.
      index % 2 === 1 ? piece.replace(COLOR, "\u001b$1") : withoutUnseen(piece, "\ufffd"),
    )
    .join("");
}

/** JSON of the same value, in characters that can all be seen. */
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
