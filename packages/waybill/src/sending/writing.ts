import type { DeltaEvent } from "@waybill/agent";
import { printable, widthOf } from "../terminal/text.ts";

/** More than the widest terminal can show. */
const CHARACTERS_KEPT = 1_000;

/** The text that a recipient is streaming, for a status line. */
export class Writing {
  #by = "";
  #attempt = 0;
  #end = "";

  add({ by, attempt, text }: DeltaEvent): void {
    const isAnother = by !== this.#by || attempt !== this.#attempt;
    this.#by = by;
    this.#attempt = attempt;
    this.#end = (isAnother ? text : this.#end + text).slice(-CHARACTERS_KEPT);
  }

  /** The end of the text, in this many columns; undefined if there is no text. */
  line(columns: number): string | undefined {
    if (this.#end === "") return undefined;
    const before = `${printable(this.#by)}: `;
    return before + lastOf(printable(this.#end, CHARACTERS_KEPT), columns - widthOf(before));
  }
}

function lastOf(text: string, columns: number): string {
  const characters = [...text];
  let width = widthOf(text);
  if (width <= columns) return text;
  while (width > columns - 1 && characters.length > 0) width -= widthOf(characters.shift()!);
  return `…${characters.join("").trimStart()}`;
}
