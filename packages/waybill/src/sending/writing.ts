import type { DeltaEvent } from "@waybill/agent";
import { printable, widthOf } from "../terminal/text.ts";

/** More than the widest terminal shows of it. */
const CHARACTERS_KEPT = 1_000;

/** What a recipient is writing, as far as one line can show it. */
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

  /** The last of it, in so many columns; undefined where nothing has been written. */
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
