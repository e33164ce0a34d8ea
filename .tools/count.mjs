/**
 * Adds up the reports of all packages. Tests that did not run, or were skipped without a reason, have
 * failed.
 * @param runs `{ name, report }`: a package and its report, undefined when its run wrote none
 * @param isPartial whether only some tests were requested, so that the others were skipped on purpose
 */
export function count(runs, isPartial = false) {
  const total = { passed: 0, failed: [], skipped: [] };
  for (const { name, report } of runs) {
    if (!report) {
      total.failed.push(`${name}: its run ended without a report`);
      continue;
    }
    total.failed.push(...report.failed.map((failure) => `${name}: ${failure}`));
    for (const [file, results] of Object.entries(report.files)) {
      const where = `${name} ${file}`;
      total.passed += results.passed;
      total.failed.push(...results.failed.map((failure) => `${where} > ${failure}`));
      for (const { test, reason } of results.skipped) {
        if (reason) total.skipped.push(`${where} > ${test}: ${reason}`);
        else if (!isPartial)
          total.failed.push(`${where} > ${test}: skipped without a reason, say it: skip("why")`);
      }
    }
  }
  return total;
}

/** The sum of several counts. */
export function sum(counts) {
  return {
    passed: counts.reduce((passed, each) => passed + each.passed, 0),
    failed: counts.flatMap(({ failed }) => failed),
    skipped: counts.flatMap(({ skipped }) => skipped),
  };
}

/** The closing line. CI reads it, so its format is fixed. */
export function closingLine({ passed, failed, skipped }) {
  const skips = skipped.length > 0 ? `, ${skipped.length} skipped` : "";
  return `${passed} passed, ${failed.length} failed${skips}`;
}
