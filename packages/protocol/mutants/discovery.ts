import type { Mutant } from "./mutant.ts";

const DISCOVERY = "src/discovery/discovery.ts";
const RELIABILITY = "src/discovery/reliability.ts";
const CONTRACT = "src/contract/contract.ts";

export const DISCOVERIES: readonly Mutant[] = [
  {
    rule: "WB-71",
    file: DISCOVERY,
    find: `trust.isTrusted ? undefined :`,
    replace: `trust.isTrusted || true ? undefined :`,
    why: "finds strangers",
  },
  {
    rule: "WB-71",
    file: DISCOVERY,
    find: `if (name !== query.capability) return`,
    replace: `if (false) return`,
    why: "finds who does something else",
  },
  {
    rule: "WB-71",
    file: DISCOVERY,
    find: `version === undefined || matchesVersion(capability.version, version)`,
    replace: `version === undefined || capability.version.startsWith(version.slice(0, 1))`,
    why: "finds other versions",
  },
  {
    rule: "WB-71",
    file: DISCOVERY,
    find: `const missing = tags.filter((tag) => !capability.tags.includes(tag));`,
    replace: `const missing = tags.some((tag) => capability.tags.includes(tag)) ? [] : tags;`,
    why: "is content with one of the tags",
  },
  {
    rule: "WB-71",
    file: DISCOVERY,
    find: `input === undefined ? undefined : inputIssues(input, candidate),`,
    replace: `undefined,`,
    why: "does not look at the input",
  },
  {
    rule: "WB-71",
    file: DISCOVERY,
    find: `return FILTERS.flatMap((filter) => filter(trial) ?? []);`,
    replace: `return FILTERS.flatMap((filter) => filter(trial) ?? []).slice(0, 1);`,
    why: "gives only the first reason",
  },
  {
    rule: "WB-72",
    file: DISCOVERY,
    find: `const reliability = wilsonLowerBound(successes, total);`,
    replace: `const reliability = successes / total;`,
    why: "ranks by the plain share, so that one success beats a record",
  },
  {
    rule: "WB-72",
    file: DISCOVERY,
    find: `const reliability = wilsonLowerBound(successes, total);`,
    replace: `const reliability = Math.max(wilsonLowerBound(successes, total), 0.5 * claim);`,
    why: "believes a part of a claim whatever was measured",
  },
  {
    rule: "WB-72",
    file: DISCOVERY,
    find: `newcomerShare: 0.15,`,
    replace: `newcomerShare: 1,`,
    why: "believes a claim of which nothing is measured",
  },
  {
    rule: "WB-72",
    file: RELIABILITY,
    find: `  422: "not_its_doing",`,
    replace: `  422: "failure",`,
    why: "holds bad input against the recipient",
  },
  {
    rule: "WB-72",
    file: RELIABILITY,
    find: `  502: "failure",`,
    replace: `  502: "not_its_doing",`,
    why: "does not count that a recipient went silent",
  },
  {
    rule: "WB-73",
    file: RELIABILITY,
    find: `factor: 2,`,
    replace: `factor: 1,`,
    why: "puts out for the same time again",
  },
  {
    rule: "WB-73",
    file: RELIABILITY,
    find: `afterFailures: 3,`,
    replace: `afterFailures: 4,`,
    why: "waits for a fourth failure",
  },
  {
    rule: "WB-73",
    file: RELIABILITY,
    find: `Math.min(EJECTION.capMs, EJECTION.baseMs * EJECTION.factor ** stats.ejections)`,
    replace: `EJECTION.baseMs * EJECTION.factor ** stats.ejections`,
    why: "puts out for days",
  },
  {
    rule: "WB-73",
    file: RELIABILITY,
    find: `return { ...NO_STATS, successes: stats.successes + 1, failures: stats.failures };`,
    replace: `return { ...stats, consecutiveFailures: 0, successes: stats.successes + 1 };`,
    why: "goes on putting out after a success",
  },
  {
    rule: "WB-73",
    file: RELIABILITY,
    find: `return { ...NO_STATS, successes: stats.successes + 1, failures: stats.failures };`,
    replace: `return { ...stats, ejectedUntil: null, successes: stats.successes + 1 };`,
    why: "goes on counting the failures from before a success",
  },
  {
    rule: "WB-73",
    file: DISCOVERY,
    find: `isEjected(stats, now)
      ?`,
    replace: `isEjected(stats, now) && false
      ?`,
    why: "finds who was put out",
  },
  {
    rule: "WB-74",
    file: CONTRACT,
    find: `return hasCountered
    ?`,
    replace: `return hasCountered && false
    ?`,
    why: "counters for ever",
  },
  {
    rule: "WB-74",
    file: CONTRACT,
    find: `recipientNeeds: "at_least", unit: "s for the work"`,
    replace: `recipientNeeds: "at_most", unit: "s for the work"`,
    why: "accepts less time than it needs",
  },
  {
    rule: "WB-74",
    file: CONTRACT,
    find: `if (reasons.length === 0) return { verdict: "accept" };`,
    replace: `if (reasons.length < 2) return { verdict: "accept" };`,
    why: "accepts an offer that it does not hold to",
  },
  {
    rule: "WB-74",
    file: "src/lifecycle/recipient.ts",
    find: `if ("re" in event && event.re !== state.digest)`,
    replace: `if ("re" in event && event.type !== "accept" && event.re !== state.digest)`,
    why: "binds whatever the acceptance names",
  },
  {
    rule: "WB-75",
    file: "src/json/json.ts",
    find: `    readJson(text, cause);
    throw new WaybillError(400, "This is not JSON.", { at: "", cause });`,
    replace: `    throw cause;`,
    why: "lets the parser's own error through",
  },
  {
    rule: "WB-75",
    file: "src/signing/jws.ts",
    find: `  if (typeof text !== "string") {`,
    replace: `  if (false) {`,
    why: "takes it that what comes in is a text",
  },
  {
    rule: "WB-75",
    file: "src/json/json.ts",
    find: `if (++depth > depthMax) throw`,
    replace: `if (++depth > depthMax && false) throw`,
    why: "follows a message to the end of the stack",
  },
  {
    rule: "WB-75",
    file: "src/schema/schema-read.ts",
    find: "    if (depth >= limits.depth) tooLarge(at, `it is nested deeper than ${limits.depth} levels`);\n",
    replace: ``,
    why: "follows a schema to the end of the stack",
  },
];
