// `pnpm conformance echo`: what the adapter in packages/adapter-echo does of all that an adapter owes.
// Without a name: every adapter, and what has a fixture in a folder of its own, as conversation/team.
// `--json` for a program to read, `--markdown` for a table of them all.
import { globSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { packages, root } from "./workspace.mjs";

const PREFIX = "packages/adapter-";
const FIXTURE = "conformance-fixture.ts";
const FORMATS = ["--json", "--markdown"];

const args = process.argv.slice(2);
const format = args.find((each) => FORMATS.includes(each));
const names = args.filter((each) => each !== format);
const fixtures = new Map(
  packages()
    .filter(({ folder }) => folder.startsWith(PREFIX))
    .flatMap(({ folder }) =>
      globSync(`{,*/}${FIXTURE}`, { cwd: join(root, folder, "src") })
        .toSorted()
        .map((path) => [
          join(folder.slice(PREFIX.length), dirname(path)),
          join(root, folder, "src", path),
        ]),
    ),
);
const adapters = [...fixtures.keys()];
const unknown = names.filter((name) => !fixtures.has(name));
if (unknown.length > 0) {
  console.error(
    `No adapter is called ${unknown.join(", ")}. There are: ${adapters.join(", ")}; and the options ${FORMATS.join(" and ")}.`,
  );
  process.exit(2);
}

const conformance = pathToFileURL(join(root, "packages/conformance/src/index.ts"));
const { reportAdapter, reportAsJson, reportAsText, reportsAsMarkdown } = await import(
  conformance.href
);
const reports = [];
for (const name of names.length > 0 ? names : adapters) {
  const { fixture } = await import(pathToFileURL(fixtures.get(name)).href);
  reports.push(await reportAdapter(fixture));
}
if (format === "--markdown") console.log(reportsAsMarkdown(reports));
else if (format === undefined) for (const report of reports) console.log(reportAsText(report));
// One adapter is one object, as it was asked for; several are a list.
else if (reports.length === 1 && names.length === 1) console.log(reportAsJson(reports[0]));
else console.log(`[${reports.map(reportAsJson).join(",\n")}]`);
process.exit(reports.some(({ failed }) => failed > 0) ? 1 : 0);
