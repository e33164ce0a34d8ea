// Lists exported symbols of the packages without TSDoc: `node .tools/tsdoc.mjs` for all packages,
// `node .tools/tsdoc.mjs agent` for one. `npm run check tsdoc` fails if there are any.
import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { Reader, sourcesOf } from "./modules.mjs";
import { packages, root } from "./workspace.mjs";

/** The exports of each package, and those without documentation. */
export function survey(all = packages(), read = (path) => readFileSync(path, "utf8")) {
  const reader = new Reader(all, read);
  return all
    .filter(({ manifest }) => !manifest.private)
    .map(({ name, folder, manifest }) => {
      const symbols = new Map();
      for (const [, entry] of sourcesOf(manifest)) {
        for (const symbol of reader.exportsOf(join(root, folder, entry)).values())
          symbols.set(`${symbol.file} ${symbol.name}`, symbol);
      }
      const found = [...symbols.values()];
      return { name, count: found.length, lacking: found.filter((each) => !each.isDocumented) };
    });
}

/** For `npm run check`: throws if an export has no comment. */
export function checkTsdoc() {
  const found = survey();
  const faults = found.flatMap(({ name, lacking }) =>
    lacking.map((symbol) => `${name}: ${describe(symbol)}`),
  );
  if (faults.length > 0)
    throw new Error(`These are exported without a TSDoc comment:\n${faults.join("\n")}`);
  const count = found.reduce((sum, each) => sum + each.count, 0);
  return `${count} exported symbols of ${found.length} packages`;
}

function describe({ name, file, line }) {
  return `${name} (${relative(root, file)}:${line})`;
}

function main(wanted) {
  for (const { name, count, lacking } of survey()) {
    if (wanted.length > 0 && !wanted.some((each) => name === each || name === `@waybill/${each}`))
      continue;
    console.log(`${name}: ${lacking.length} of ${count} exported symbols have no TSDoc`);
    for (const symbol of lacking) console.log(`  ${describe(symbol)}`);
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) main(process.argv.slice(2));
