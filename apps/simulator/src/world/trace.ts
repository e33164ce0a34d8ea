/** Everything that has happened, as one number to compare, and as lines to read. */
export class Trace {
  readonly lines: string[] | undefined;
  #high = 0xdeadbeef;
  #low = 0x41c6ce57;
  readonly #now: () => number;

  constructor(now: () => number, isKept: boolean) {
    this.#now = now;
    this.lines = isKept ? [] : undefined;
  }

  note(text: string): void {
    const line = `${this.#now()} ${text}`;
    for (let index = 0; index < line.length; index++) {
      const code = line.charCodeAt(index);
      this.#high = Math.imul(this.#high ^ code, 2654435761);
      this.#low = Math.imul(this.#low ^ code, 1597334677);
    }
    this.lines?.push(line);
  }

  /** The same for the same events in the same order. */
  get hash(): string {
    const hex = (value: number) => (value >>> 0).toString(16).padStart(8, "0");
    return hex(this.#high) + hex(this.#low);
  }
}
