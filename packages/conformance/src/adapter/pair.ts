import { pairCases } from "./cases/pair.ts";
import type { AdapterFixture } from "./fixture.ts";
import { patienceWith, runCase } from "./suite.ts";

/** One case between two adapters. */
export interface PairCase {
  readonly name: string;
  readonly timeoutMs: number;
  /** Why one of the two can't, as its own suite shows: such a case is skipped. */
  readonly gap: string | undefined;
  /** Rejects if the two do not understand each other. */
  run(): Promise<void>;
}

/** What has to hold if one framework calls what another serves, as cases for any test runner. */
export function pairSuite(serving: AdapterFixture, calling: AdapterFixture): PairCase[] {
  if ((serving.serve ?? serving.peer) === undefined) {
    throw new Error(`${serving.adapter} has no serve side.`);
  }
  if ((calling.call ?? calling.peer) === undefined) {
    throw new Error(`${calling.adapter} has no call side.`);
  }
  const patienceMs = Math.max(patienceWith(serving), patienceWith(calling));
  return Object.entries(pairCases).map(([name, { needs, check }]) => ({
    name,
    timeoutMs: 2 * patienceMs,
    gap: needs.map((each) => gapOf(each, { serve: serving, call: calling })).find(Boolean),
    run: () => runCase({ serving, calling }, check, patienceMs),
  }));
}

/** The caller need not be able to serve what it calls, nor the other way round. */
function gapOf(need: string, sides: Record<"serve" | "call", AdapterFixture>): string | undefined {
  const { gaps = {} } = need.startsWith("serve: ") ? sides.serve : sides.call;
  return gaps[need];
}
