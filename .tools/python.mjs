// `npm run test:python`: the tests of packages/python, each part in its own virtual environment.
// `npm run test:python -- core`: only this part. PYTHON selects an interpreter other than the first
// suitable one.
// `npm run test:python -- crewai --with='crewai==1.15.30'`: with another version than the pinned one.
import { closingLine, sum } from "./count.mjs";
import { alter, findPython, setUp } from "./python-environment.mjs";
import { testPart } from "./python-part.mjs";
import { environmentsOf, parts } from "./python-parts.mjs";

const WITH = "--with=";
const args = process.argv.slice(2);
const chosen = args.filter((arg) => !arg.startsWith(WITH));
const others = args.filter((arg) => arg.startsWith(WITH)).map((arg) => arg.slice(WITH.length));
const unknown = chosen.filter((name) => !Object.hasOwn(parts, name));
if (unknown.length > 0) {
  console.error(
    `No part is called ${unknown.join(", ")}. There are: ${Object.keys(parts).join(", ")}.`,
  );
  process.exit(2);
}

const total = sum(await test(chosen.length > 0 ? chosen : Object.keys(parts)));
list("Skipped", total.skipped);
list("Failed", total.failed);
console.log(`\n${closingLine(total)}`);
process.exitCode = total.failed.length > 0 ? 1 : 0;

async function test(names) {
  const python = findPython();
  if (python === undefined) {
    return [
      failure(
        "there is no Python 3.10 to 3.13 with venv here. Install python3 and python3-venv, or name one: PYTHON=/path/to/python",
      ),
    ];
  }
  console.log(`Python ${python.version} (${python.command})`);
  // Downloads overlap with tests: a later part's environment is made while an earlier part runs.
  const needed = new Set(names.flatMap(environmentsOf));
  const environments = new Map([...needed].map((name) => [name, setUp(name, python)]));
  const counts = [];
  for (const name of names) {
    const areReady = await Promise.all(environmentsOf(name).map((each) => environments.get(each)));
    const isReady = areReady.every(Boolean) && (others.length === 0 || alter(name, others));
    counts.push(
      isReady
        ? testPart(name)
        : failure(`${name}: its environment could not be made; why stands above`),
    );
  }
  return counts;
}

function failure(message) {
  return { passed: 0, failed: [message], skipped: [] };
}

function list(title, lines) {
  if (lines.length > 0) console.log(`\n${title}:\n${lines.map((line) => `  ${line}`).join("\n")}`);
}
