/// <reference types="node" />
import { closeSync, fsyncSync, ftruncateSync, openSync, readFileSync, writeSync } from "node:fs";

/** An append-only file of JSON lines. Appended lines are on disk. */
export class Journal<Line> {
  readonly lines: Line[];
  readonly #file: number;

  constructor(path: string) {
    this.#file = openSync(path, "a+");
    const text = readFileSync(path, "utf8");
    // A process killed while writing a line had promised nothing for it yet.
    const whole = text.slice(0, text.lastIndexOf("\n") + 1);
    ftruncateSync(this.#file, Buffer.byteLength(whole));
    this.lines = whole
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as Line);
  }

  append(line: Line): void {
    this.lines.push(line);
    writeSync(this.#file, `${JSON.stringify(line)}\n`);
    fsyncSync(this.#file);
  }

  close(): void {
    closeSync(this.#file);
  }
}
