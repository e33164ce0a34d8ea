// `pnpm conformance echo`: what the adapter in packages/adapter-echo does of all that an adapter owes.
// Without a name: every adapter, and what has a fixture in a folder of its own, as conversation/team.
// Those in Python, autogen, autogen-agent, autogen-grpc, ag2 and crewai, are left out unless named: they need the
// environments that `npm run test:python` makes. So are kaiban and openclaw, which need installations of their own.
// `--json` for a program to read, `--markdown` for a table of them all. `--readme` puts a short table
// into the project's README, and `--check` compares what stands there with what is so.
// `--sabotage` plants faults in the adapter's source, one after the other, and says which case notices
// each; `--sample 2` plants only two of each adapter. Without a name: every adapter with a table of faults.
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { withConformance } from "./conformance-table.mjs";
import { sabotage, sabotageAsJson, sabotageAsText, sabotageLine } from "./sabotage.mjs";
import { faultsBeside } from "./sabotage-fault.mjs";
import { packages, root } from "./workspace.mjs";

const PREFIX = "packages/adapter-";
const OTHER_LANGUAGES = "apps/interop";
const FIXTURE = "conformance-fixture.ts";
const README = join(root, "README.md");
/** A folder of tests with its own installation, made by its `install.mjs`. */
const INSTALLED_APART = "with-";
const FORMATS = ["--json", "--markdown", "--readme", "--check"];

const { values: options, positionals: names } = parsed();
const format = FORMATS.find((each) => options[each.slice("--".length)]);
const fixtures = new Map(
  packages()
    .filter(({ folder }) => folder.startsWith(PREFIX) || folder === OTHER_LANGUAGES)
    .flatMap(({ folder }) => [
      ...globSync(`{,*/}${FIXTURE}`, { cwd: join(root, folder, "src") })
        .toSorted()
        .map((path) => [
          join(folder === OTHER_LANGUAGES ? "" : folder.slice(PREFIX.length), dirname(path)),
          join(root, folder, "src", path),
        ]),
      ...globSync(`${INSTALLED_APART}*/${FIXTURE}`, { cwd: join(root, folder) }).map((path) => [
        folder.slice(PREFIX.length),
        join(root, folder, path),
      ]),
    ]),
);
const adapters = [...fixtures.keys()];
const isInstalledApart = (name) =>
  basename(dirname(fixtures.get(name))).startsWith(INSTALLED_APART);
const isLeftOut = (name) =>
  isInstalledApart(name) || fixtures.get(name).startsWith(join(root, OTHER_LANGUAGES));
const unknown = names.filter((name) => !fixtures.has(name));
if (unknown.length > 0) {
  console.error(
    `No adapter is called ${unknown.join(", ")}. There are: ${adapters.join(", ")}; and the options ${FORMATS.join(", ")}, --sabotage, --sample.`,
  );
  process.exit(2);
}
if (options.sabotage) await sabotageAll();

const conformance = pathToFileURL(join(root, "packages/conformance/src/index.ts"));
const { reportAdapter, reportAsJson, reportAsText, reportsAsMarkdown } = await import(
  conformance.href
);
const reports = [];
for (const name of names.length > 0 ? names : adapters.filter((each) => !isLeftOut(each))) {
  if (isInstalledApart(name)) await install(name);
  const { fixture } = await import(pathToFileURL(fixtures.get(name)).href);
  reports.push(await reportAdapter(fixture));
}
if (format === "--markdown") console.log(reportsAsMarkdown(reports));
else if (format === "--readme" || format === "--check") putIntoReadme(format === "--check");
else if (format === undefined) for (const report of reports) console.log(reportAsText(report));
// One named adapter is reported as one object; several are a list.
else if (reports.length === 1 && names.length === 1) console.log(reportAsJson(reports[0]));
else console.log(`[${reports.map(reportAsJson).join(",\n")}]`);
process.exit(process.exitCode ?? (reports.some(({ failed }) => failed > 0) ? 1 : 0));

function parsed() {
  const flags = [...FORMATS, "--sabotage"].map((each) => [
    each.slice("--".length),
    { type: "boolean" },
  ]);
  try {
    return parseArgs({
      allowPositionals: true,
      options: { ...Object.fromEntries(flags), sample: { type: "string" } },
    });
  } catch (error) {
    console.error(error.message);
    process.exit(2);
  }
}

async function install(name) {
  await import(pathToFileURL(join(dirname(fixtures.get(name)), "install.mjs")).href);
}

/** Ends the process, with 1 if a fault was missed or there is none to plant. */
async function sabotageAll() {
  const sample = options.sample === undefined ? undefined : Number(options.sample);
  const hasFaults = (name) => faultsBeside(fixtures.get(name)) !== undefined;
  const chosen =
    names.length > 0 ? names : adapters.filter((each) => !isLeftOut(each) && hasFaults(each));
  // A run takes minutes: each fault is reported when it is judged. Programs read only the last line.
  const hear = (result) => console.log(sabotageLine(result));
  let missed = 0;
  for (const name of chosen) {
    if (isInstalledApart(name)) await install(name);
    console.log(`${name}: the suite without a fault, and then with each`);
    const report = await sabotage(name, fixtures.get(name), { sample, hear });
    missed += report.missed.length;
    console.log(format === "--json" ? sabotageAsJson(report) : sabotageAsText(report));
  }
  process.exit(missed > 0 || chosen.length === 0 ? 1 : 0);
}

function putIntoReadme(isCheck) {
  const before = readFileSync(README, "utf8");
  const after = withConformance(before, reports);
  if (before === after) return console.log("The table in README.md is what the adapters do.");
  if (!isCheck) return writeFileSync(README, after);
  console.log(
    "The table in README.md is not what the adapters do now; run: pnpm conformance --readme",
  );
  process.exitCode = 1;
}
