export type Counted = "begun" | "ended";

/** How many seconds the chart shows. */
const SECONDS = 300;

/** How many handoffs began and ended in each of the last seconds: memory of a fixed size. */
export class Rates {
  readonly #counts: Readonly<Record<Counted, Float64Array>> = {
    begun: new Float64Array(SECONDS),
    ended: new Float64Array(SECONDS),
  };
  /** The second that each place was written for. */
  readonly #second = new Float64Array(SECONDS);

  count(what: Counted, at: number): void {
    const second = Math.floor(at / 1000);
    const place = second % SECONDS;
    if (second < this.#second[place]!) return;
    if (second > this.#second[place]!) {
      this.#second[place] = second;
      for (const counts of Object.values(this.#counts)) counts[place] = 0;
    }
    this.#counts[what][place]!++;
  }

  /** The seconds that end now, and their counts, as the chart takes them. */
  series(now: number): [number[], number[], number[]] {
    const last = Math.floor(now / 1000);
    const seconds = Array.from({ length: SECONDS }, (_, index) => last - SECONDS + 1 + index);
    const of = (what: Counted) =>
      seconds.map((second) => {
        const place = second % SECONDS;
        return this.#second[place] === second ? this.#counts[what][place]! : 0;
      });
    return [seconds, of("begun"), of("ended")];
  }

  /** The mean of the last seconds. */
  perSecond(what: Counted, now: number, over = 10): number {
    const [, begun, ended] = this.series(now);
    const counts = (what === "begun" ? begun : ended).slice(-over - 1, -1);
    return counts.reduce((sum, each) => sum + each, 0) / over;
  }
}
