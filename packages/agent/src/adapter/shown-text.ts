import type { DeltaEvent } from "../delegating/events.ts";

/**
 * What a framework's stream has shown of a result while it was written, so that the end of the stream
 * shows the rest and no word twice. Deltas may be lost, may hold more than the result, and begin anew with
 * each attempt.
 *
 * @example
 * ```ts
 * const shown = new ShownText();
 * const result = await call(agent, { ...step, onDelta: (delta) => show(shown.add(delta)) });
 * show(shown.restOf(wordsOfResult(result)));
 * ```
 */
export class ShownText {
  #text = "";
  #attempt: number | undefined;

  /** Counts a delta as shown, and gives what to show of it. */
  add({ attempt, text }: Pick<DeltaEvent, "attempt" | "text">): string {
    const isAnew = this.#text !== "" && attempt !== this.#attempt;
    this.#attempt = attempt;
    this.#text = isAnew ? text : this.#text + text;
    return isAnew ? `\n${text}` : text;
  }

  /** What of the result's text is still to be shown. White space counts for nothing. */
  restOf(text: string): string {
    if (text.startsWith(this.#text)) return text.slice(this.#text.length);
    const [shown, whole] = [withoutSpace(this.#text), withoutSpace(text)];
    if (shown.endsWith(whole)) return "";
    if (whole.startsWith(shown)) return afterShown(text, shown.length);
    return `\n${text}`;
  }
}

function withoutSpace(text: string): string {
  return text.replaceAll(/\s/g, "");
}

/** The text after so many characters that are no white space. */
function afterShown(text: string, count: number): string {
  let at = 0;
  for (let left = count; left > 0; at += 1) if (!/\s/.test(text[at]!)) left -= 1;
  return text.slice(at);
}
