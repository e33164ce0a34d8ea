import type { Cases } from "./case.ts";
import { commitCases } from "./cases/commit.ts";
import { crashCases } from "./cases/crash.ts";
import { closingCases, durableCases } from "./cases/durability.ts";
import { findingCases } from "./cases/finding.ts";
import { groupCases } from "./cases/groups.ts";
import { ledgerCases } from "./cases/ledger.ts";
import { loadCases } from "./cases/load.ts";
import { registryCases } from "./cases/registry.ts";
import { settingCases } from "./cases/settings.ts";
import type { StoreCase, StoreSubject, StoreSuiteOptions } from "./subject.ts";

const TIMEOUT_MS = 20_000;

/** What every store promises, as cases for any test runner; each opens a store of its own. */
export function storeSuite(options: StoreSuiteOptions): StoreCase[] {
  const cases = [
    commitCases,
    groupCases,
    ledgerCases,
    findingCases,
    registryCases,
    settingCases,
    loadCases,
    closingCases,
  ].flatMap((each) => bound(each, options.open));
  if (!options.isDurable) return cases;
  return [...cases, ...bound(durableCases, options.open), ...crashCases(options.process)];
}

function bound<Subject extends StoreSubject>(
  cases: Cases<Subject>,
  open: () => Promise<Subject>,
): StoreCase[] {
  return Object.entries(cases).map(([name, check]) => ({
    name,
    timeoutMs: TIMEOUT_MS,
    async run() {
      const subject = await open();
      try {
        await check(subject);
      } finally {
        await subject.dispose();
      }
    },
  }));
}
