import type { DeltaEvent } from "../delegating/events.ts";

/**
 * Tracks how much of a result a framework's stream has shown while it was written, so that the end of
 * the stream shows the rest and no word twice. Deltas may be lost, may contain more than the result,
 * and begin again with each attempt.
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

  /** Counts a delta as shown, and returns what to show of it. */
  add({ attempt, text }: Pick<DeltaEvent, "attempt" | "text">): string {
    const isAnew = this.#text !== "" && attempt !== this.#attempt;
    this.#attempt = attempt;
    this.#text = isAnew ? text : this.#text + text;
    return isAnew ? `\n${text}` : text;
  }

  /** The part of the result's text that is still to be shown. White space is ignored in the comparison. */
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

/** The text after the given number of non-space characters. */
function afterShown(text: string, count: number): string {
  let at = 0;
  for (let left = count; left > 0; at += 1) if (!/\s/.test(text[at]!)) left -= 1;
  return text.slice(at);
}
