// Runs the suite of one adapter in its own process until a case fails: first the cases whose names
// contain the argument, then all others. Its last line names the failed case.
import { pathToFileURL } from "node:url";
import { join } from "node:path";
import { root } from "./workspace.mjs";

const { fixture: path, first, others, patienceMs } = JSON.parse(process.argv[2]);
const conformance = pathToFileURL(join(root, "packages/conformance/src/index.ts"));
const { adapterSuite } = await import(conformance.href);
const { fixture } = await import(pathToFileURL(path).href);
const cases = adapterSuite(fixture, {
  patienceMs: fixture.peer === undefined ? patienceMs : undefined,
});
const isFirst = ({ name }) => first.some((part) => name.includes(part));
const missing = first.filter((part) => !cases.some(({ name }) => name.includes(part)));

const failed = missing.length > 0 ? undefined : await firstToFail();
console.log(JSON.stringify({ missing, ...failed }));
process.exit(0);

async function firstToFail() {
  const order = [
    ...cases.filter(isFirst),
    ...(others ? cases.filter((each) => !isFirst(each)) : []),
  ];
  for (const { name, run } of order) {
    try {
      await run();
    } catch (error) {
      return { case: name, says: error instanceof Error ? error.message : String(error) };
    }
  }
  return undefined;
}
