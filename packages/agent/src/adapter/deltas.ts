/**
 * What a model streams, as progress. A progress is a signed envelope in the ledger, so words are
 * gathered for a while: the first come at once, the others when the while is over or the turn is.
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
