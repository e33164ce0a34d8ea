// `npm run check`: what has to hold before a change lands or a version is released.
// `npm run check lint format` runs only these steps, `npm run check -- --without tests` all the
// others.
import { run } from "./command.mjs";
import { checkExports } from "./exports.mjs";
import { checkGuide, checkInstalled, checkPacked, checkPages, checkStory } from "./packed.mjs";
import { checkTsdoc } from "./tsdoc.mjs";
import { packages } from "./workspace.mjs";

// A step throws when it fails; what it returns is printed beside its "ok".
const steps = [
  { name: "types", run: types },
  { name: "lint", run: () => void run("oxlint") },
  { name: "format", run: () => void run("oxfmt", ["--check", "."]) },
  { name: "readme", run: () => void run("node", [".tools/readme.mjs", "--check"]) },
  {
    name: "unused",
    run: unused,
  },
  { name: "tsdoc", run: checkTsdoc },
  { name: "tools", run: () => void run("node", ["--test", ".tools/*.test.mjs"]) },
  { name: "packed", run: checkPacked },
  { name: "installed", run: checkInstalled },
  { name: "pages", run: checkPages },
  { name: "story", run: checkStory },
  { name: "guide", run: checkGuide },
  { name: "tests", run: () => lastLine(run("node", [".tools/test.mjs"])) },
  { name: "slow", run: () => lastLine(run("node", [".tools/test.mjs", "--slow"])) },
];

const chosen = choose(process.argv.slice(2));
const failed = [];
for (const step of chosen) if (!(await passes(step))) failed.push(step);
console.log(`\n${chosen.length - failed.length} passed, ${failed.length} failed`);
process.exitCode = failed.length > 0 ? 1 : 0;

function choose(args) {
  const isWithout = args[0] === "--without";
  const names = isWithout ? args.slice(1) : args;
  const unknown = names.filter((name) => !steps.some((step) => step.name === name));
  if (unknown.length > 0) {
    console.error(
      `No step is called ${unknown.join(", ")}. There are: ${steps.map(({ name }) => name).join(", ")}.`,
    );
    process.exit(2);
  }
  return names.length === 0
    ? steps
    : steps.filter(({ name }) => names.includes(name) !== isWithout);
}

async function passes(step) {
  const start = Date.now();
  const took = () => `${((Date.now() - start) / 1000).toFixed(1)} s`.padStart(7);
  process.stdout.write(step.name.padEnd(12));
  try {
    const note = await step.run();
    console.log(`ok     ${took()}${note ? `  ${note}` : ""}`);
    return true;
  } catch (error) {
    console.log(`FAILED ${took()}\n\n${error.message.trim()}\n`);
    return false;
  }
}

function lastLine(output) {
  return output.trim().split("\n").at(-1);
}

function unused() {
  run("knip", ["--no-progress", "--treat-config-hints-as-errors"]);
  return checkExports();
}

function types() {
  run("tsc", ["-b", ...packages().map(({ folder }) => folder)]);
  run("tsc", ["-p", ".tools"]);
  // It runs in a browser, where other names are known.
  run("tsc", ["-p", "packages/console/page"]);
}
