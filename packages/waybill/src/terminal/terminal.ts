/// <reference types="node" />
import { isColored, styleFor } from "./style.ts";
import type { Style } from "./style.ts";
import { shortened } from "./text.ts";
import { shown, shownJson } from "./unseen.ts";
import { wrapped } from "./wrap.ts";

export interface TerminalOptions {
  readonly isJson: boolean;
  readonly isQuiet: boolean;
}

/** What is drawn to scale needs a width also where nobody looks at it. */
const DRAWN_WITHOUT_TERMINAL = 120;
/** A terminal that does not say how wide it is. */
export const USUAL_COLUMNS = 80;

/** How wide lines may be; where nobody looks at them, they are not broken, so that programs can read them. */
export function widthOfStream(stream: {
  readonly isTTY?: boolean;
  readonly columns?: number;
}): number {
  return stream.isTTY === true ? stream.columns || USUAL_COLUMNS : Infinity;
}

/**
 * The one way to the terminal: what strangers wrote can do nothing there but be read.
 *
 * Answers go to stdout, as text or as JSON. What happens meanwhile goes to stderr, and only where
 * somebody looks; errors always do.
 */
export class Terminal {
  readonly isJson: boolean;
  readonly isQuiet: boolean;
  /** Whether somebody watches stderr. */
  readonly isWatched: boolean;
  readonly out: Style;
  readonly err: Style;
  #hasStatus = false;

  constructor({ isJson, isQuiet }: TerminalOptions) {
    this.isJson = isJson;
    this.isQuiet = isQuiet;
    this.isWatched = process.stderr.isTTY && !isQuiet && !isJson;
    this.out = styleFor(isColored(process.stdout.isTTY, process.env));
    this.err = styleFor(isColored(process.stderr.isTTY, process.env));
  }

  /** How wide the lines of an answer may be. */
  get width(): number {
    return widthOfStream(process.stdout);
  }

  /** How wide a drawing is made. */
  get columns(): number {
    return Math.min(this.width, DRAWN_WITHOUT_TERMINAL);
  }

  /** The answer, or one item of a stream of them. */
  async answer(value: unknown, text: (style: Style) => string): Promise<void> {
    if (this.isJson) await this.json(JSON.stringify(value));
    else await this.write(`${text(this.out)}\n`);
  }

  /** JSON, of the same value in characters that can all be seen. */
  async json(json: string): Promise<void> {
    await this.#put(`${shownJson(json)}\n`);
  }

  /** Text for people, in lines that fit. */
  async write(text: string): Promise<void> {
    await this.#put(shown(wrapped(text, this.width)));
  }

  /** Text for a program, such as a script, exactly as it is. */
  async verbatim(text: string): Promise<void> {
    await this.#put(shown(text));
  }

  /** Waits where the reader is slower. */
  async #put(text: string): Promise<void> {
    this.status(undefined);
    if (process.stdout.write(text)) return;
    await new Promise<void>((resolve) => process.stdout.once("drain", resolve));
  }

  /** Progress. */
  note(text: (style: Style) => string): void {
    if (this.isWatched) this.warn(text);
  }

  /** What must be read whoever looks. */
  warn(text: (style: Style) => string): void {
    this.status(undefined);
    process.stderr.write(`${shown(wrapped(text(this.err), widthOfStream(process.stderr)))}\n`);
  }

  /** The line that the next output takes the place of. */
  status(text: string | undefined): void {
    if (!this.isWatched || (text === undefined && !this.#hasStatus)) return;
    this.#hasStatus = text !== undefined;
    const line = shortened(text ?? "", (process.stderr.columns || USUAL_COLUMNS) - 1);
    const styled = line === "" ? "" : shown(this.err.faint(line));
    process.stderr.write(`\r\u001b[K${styled}`);
  }
}
