/**
 * Reports what a model streams as progress. Every progress is a signed envelope in the ledger, so
 * words are gathered: the first go out at once, the others every `everyMs`, and at `flush()`.
 *
 * @example
 * ```ts
 * const deltas = new Deltas(1_000, progress);
 * for await (const chunk of stream) deltas.add(chunk.text);
 * deltas.flush();
 * ```
 */
export class Deltas {
  readonly #everyMs: number;
  readonly #report: (event: { message: string }) => void;
  #gathered = "";
  #last = Number.NEGATIVE_INFINITY;

  constructor(everyMs: number, report: (event: { message: string }) => void) {
    this.#everyMs = everyMs;
    this.#report = report;
  }

  add(delta: string): void {
    this.#gathered += delta;
    if (performance.now() - this.#last >= this.#everyMs) this.flush();
  }

  flush(): void {
    if (this.#gathered === "") return;
    this.#report({ message: this.#gathered });
    this.#gathered = "";
    this.#last = performance.now();
  }
}
