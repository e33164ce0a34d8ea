import { DELTA_CHARACTERS } from "@waybill/protocol/wire";
import type { Clock } from "@waybill/protocol/wire";
import type { Link } from "../link/link.ts";

/** Twenty times a second is fast enough for a person. */
const EVERY_MS = 50;

export interface DeltasOptions {
  readonly clock: Clock;
  readonly link: Pick<Link, "delta">;
  readonly handoffId: string;
  readonly attempt: number;
}

/**
 * Sends what the work writes: the first piece at once, and then what has accumulated, every 50 ms at
 * most.
 */
export class Deltas {
  readonly #options: DeltasOptions;
  #gathered = "";
  #number = 0;
  #disarm: (() => void) | undefined;
  #isStopped = false;

  constructor(options: DeltasOptions) {
    this.#options = options;
  }

  add(text: string): void {
    if (this.#isStopped || text === "") return;
    this.#gathered += text;
    if (this.#disarm === undefined) this.#send();
  }

  /** Sends what is left, and nothing after that. */
  finish(): void {
    if (!this.#isStopped) this.#flush("");
    this.stop();
  }

  stop(): void {
    this.#isStopped = true;
    this.#disarm?.();
  }

  #send(): void {
    this.#disarm = undefined;
    // The other half of the character comes with the next piece.
    const half = /[\ud800-\udbff]$/.exec(this.#gathered)?.[0] ?? "";
    if (this.#gathered === half) return;
    this.#flush(half);
    const { clock } = this.#options;
    this.#disarm = clock.setTimer(clock.now() + EVERY_MS, () => this.#send());
  }

  #flush(kept: string): void {
    const { link, handoffId, attempt } = this.#options;
    const text = this.#gathered.slice(0, this.#gathered.length - kept.length);
    this.#gathered = kept;
    for (const piece of piecesOf(text)) {
      link.delta({ handoffId, attempt, number: this.#number++, text: piece });
    }
  }
}

/** The text that JSON can hold here, split into bounded pieces of which none ends in half a character. */
function* piecesOf(text: string): Generator<string, void, undefined> {
  const sound = text.replaceAll("\0", "").toWellFormed();
  for (let start = 0; start < sound.length;) {
    const isHalf = /[\ud800-\udbff]/.test(sound.charAt(start + DELTA_CHARACTERS - 1));
    const end = start + DELTA_CHARACTERS - (isHalf ? 1 : 0);
    yield sound.slice(start, end);
    start = end;
  }
}
