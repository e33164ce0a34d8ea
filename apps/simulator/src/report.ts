import type { RunOptions } from "./run/run-seeds.ts";
import type { SeedRun } from "./simulate-seed.ts";

const VIOLATIONS_SHOWN = 5;
const LINES_SHOWN = 40;
const EVERY = 20;

/** What one seed has shown, and how to reproduce it. */
export function describeRun(
  { seed, violations }: SeedRun,
  {
    mutant,
    storage,
    crashesAtEachCall = false,
  }: Pick<RunOptions, "mutant" | "storage" | "crashesAtEachCall">,
): readonly string[] {
  const planted = mutant === undefined ? "" : ` --mutant ${mutant}`;
  const over = storage === undefined ? "" : ` --storage ${storage}`;
  const eachCall = crashesAtEachCall ? " --each-call" : "";
  const again = `pnpm simulate --from ${seed} --seeds 1${eachCall}${over}${planted}`;
  const lines = [`seed ${seed}: ${violations.length} violations; again with: ${again}`];
  for (const { rule, handoffId, message, account } of violations.slice(0, VIOLATIONS_SHOWN)) {
    lines.push(`  ${rule} ${handoffId}: ${message}`);
    lines.push(...account.slice(-LINES_SHOWN).map((line) => `    ${line}`));
  }
  return lines;
}

/** The progress, on a line that is overwritten. */
export class Progress {
  readonly #seeds: number;
  readonly #write: (text: string) => void;
  readonly #startedAt = performance.now();
  #done = 0;
  #handoffs = 0;

  constructor(seeds: number, write: (text: string) => void) {
    this.#seeds = seeds;
    this.#write = write;
  }

  note({ handoffs }: SeedRun): void {
    this.#done++;
    this.#handoffs += handoffs;
    if (this.#done % EVERY === 0) this.#show();
  }

  end(): void {
    this.#show();
  }

  #show(): void {
    const seconds = (performance.now() - this.#startedAt) / 1000;
    const of = this.#seeds === 0 ? "" : ` of ${this.#seeds}`;
    const rates = `${(this.#done / seconds).toFixed(1)} seeds/s, ${Math.round(this.#handoffs / seconds)} handoffs/s`;
    this.#write(`${this.#done}${of} seeds, ${this.#handoffs} handoffs, ${rates}\n`);
  }
}
