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

/** The width of drawings to scale if the output is not a terminal. */
const DRAWN_WITHOUT_TERMINAL = 120;
/** The width of a terminal that does not report one. */
export const USUAL_COLUMNS = 80;

/** The width of lines. Output to a file or pipe is not wrapped, so that programs can read it. */
export function widthOfStream(stream: {
  readonly isTTY?: boolean;
  readonly columns?: number;
}): number {
  return stream.isTTY === true ? stream.columns || USUAL_COLUMNS : Infinity;
}

/**
 * The only way to the terminal. It removes everything from foreign text that a terminal would obey.
 * Answers go to stdout, as text or as JSON. Progress goes to stderr if that is a terminal; errors
 * always do.
 */
export class Terminal {
  readonly isJson: boolean;
  readonly isQuiet: boolean;
  /** Whether stderr is a terminal. */
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

  /** The maximum width of lines in an answer. */
  get width(): number {
    return widthOfStream(process.stdout);
  }

  /** The width of a drawing. */
  get columns(): number {
    return Math.min(this.width, DRAWN_WITHOUT_TERMINAL);
  }

  /** Prints the answer, or one item of a stream of answers. */
  async answer(value: unknown, text: (style: Style) => string): Promise<void> {
    if (this.isJson) await this.json(JSON.stringify(value));
    else await this.write(`${text(this.out)}\n`);
  }

  /** Prints JSON of the same value, with all characters visible. */
  async json(json: string): Promise<void> {
    await this.#put(`${shownJson(json)}\n`);
  }

  /** Prints text for people, wrapped to the width. */
  async write(text: string): Promise<void> {
    await this.#put(shown(wrapped(text, this.width)));
  }

  /** Prints text for programs, such as a script, unchanged. */
  async verbatim(text: string): Promise<void> {
    await this.#put(shown(text));
  }

  /** Waits if the reader is slower. */
  async #put(text: string): Promise<void> {
    this.status(undefined);
    if (process.stdout.write(text)) return;
    await new Promise<void>((resolve) => process.stdout.once("drain", resolve));
  }

  /** Prints progress. */
  note(text: (style: Style) => string): void {
    if (this.isWatched) this.warn(text);
  }

  /** Prints what must be read even if stderr is not a terminal. */
  warn(text: (style: Style) => string): void {
    this.status(undefined);
    process.stderr.write(`${shown(wrapped(text(this.err), widthOfStream(process.stderr)))}\n`);
  }

  /** Shows a line that the next output replaces. */
  status(text: string | undefined): void {
    if (!this.isWatched || (text === undefined && !this.#hasStatus)) return;
    this.#hasStatus = text !== undefined;
    const line = shortened(text ?? "", (process.stderr.columns || USUAL_COLUMNS) - 1);
    const styled = line === "" ? "" : shown(this.err.faint(line));
    process.stderr.write(`\r\u001b[K${styled}`);
  }
}
