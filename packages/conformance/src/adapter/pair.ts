import { pairCases } from "./cases/pair.ts";
import type { AdapterFixture } from "./fixture.ts";
import { PATIENCE_MS, runCase } from "./suite.ts";

export interface PairCase {
  readonly name: string;
  readonly timeoutMs: number;
  /** Rejects where the two don't understand each other. Where one of them can't, gives its reason. */
  run(): Promise<string | undefined>;
}

/** What has to hold where one framework calls what another serves, as cases for any test runner. */
export function pairSuite(served: AdapterFixture, calling: AdapterFixture): PairCase[] {
  if (served.serve === undefined) throw new Error(`${served.adapter} serves nothing.`);
  if (calling.call === undefined) throw new Error(`${calling.adapter} calls nobody.`);
  const gaps = { ...served.gaps, ...calling.gaps };
  const pair: AdapterFixture = {
    adapter: `${calling.adapter} calls ${served.adapter}`,
    module: served.module,
    serve: served.serve,
    call: calling.call,
  };
  return Object.entries(pairCases).map(([name, { needs, check }]) => ({
    name,
    timeoutMs: 2 * PATIENCE_MS,
    async run() {
      const missing = needs.find((each) => Object.hasOwn(gaps, each));
      if (missing !== undefined) return gaps[missing];
      await runCase(pair, check, PATIENCE_MS);
      return undefined;
    },
  }));
}
