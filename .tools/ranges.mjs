// `npm run ranges`: runs the tests with the oldest and the newest version of each framework that a
// package's peer dependencies, or an extra of the Python package, allow. `npm run ranges -- langgraph
// --oldest` runs one of them. It asks the registry, so its result may change without a change here:
// .github/workflows/ranges.yml runs it every week. Its exit code is 1 if a declared range does not
// pass.
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { run } from "./command.mjs";
import { packages, root } from "./workspace.mjs";

/**
 * The peers of each framework, their package, and what runs with them: suites of adapters, or else
 * the package's own tests.
 */
export const frameworks = {
  langgraph: {
    package: "@waybill/adapter-langgraph",
    peers: ["@langchain/langgraph", "@langchain/core", "langchain"],
    suites: ["langgraph"],
    // The workspace's own override fits only the newest.
    with: { oldest: { "@langchain/langgraph-sdk": undefined } },
  },
  "langgraph-checkpoint-sqlite": {
    package: "@waybill/langgraph-checkpoint-sqlite",
    peers: ["@langchain/langgraph-checkpoint", "@langchain/core"],
    // The LangGraph for its tests, from the same time.
    with: { oldest: { "@langchain/langgraph": "1.4.10", "@langchain/langgraph-sdk": undefined } },
  },
  openai: {
    package: "@waybill/adapter-conversation",
    peers: ["openai"],
    suites: ["conversation", "conversation/team"],
  },
  "openai-agents": {
    package: "@waybill/adapter-openai-agents",
    peers: ["@openai/agents"],
    suites: ["openai-agents"],
  },
  mastra: {
    package: "@waybill/adapter-mastra",
    peers: ["@mastra/core"],
    suites: ["mastra"],
  },
  "ai-sdk": {
    package: "@waybill/adapter-ai-sdk",
    peers: ["ai"],
    suites: ["ai-sdk"],
  },
  kaiban: {
    package: "@waybill/adapter-kaiban",
    peers: ["kaibanjs"],
    suites: ["kaiban"],
    // It is not part of the workspace, because it is so large.
    installedIn: "packages/adapter-kaiban/with-kaibanjs",
  },
  vitest: {
    package: "@waybill/conformance",
    peers: ["vitest"],
  },
  "sodium-native": {
    package: "@waybill/protocol",
    peers: ["sodium-native"],
    // All other tests run without it.
    installedAs: "sodium-native-tested",
  },
};
/**
 * The same in Python, each a part of `npm run test:python`: an extra of packages/python and
 * additional requirements, or else the page whose install line contains the range.
 */
const pythonFrameworks = {
  autogen: { with: ["autogen-ext"] },
  ag2: { with: [] },
  crewai: { with: [] },
  "autogen-grpc": { with: ["autogen-core"], page: "packages/adapter-autogen/README.md" },
};
const EDGES = ["oldest", "newest"];

/** The lower bound of a range such as `>=1.4.10 <2` or `^6.0.0 || ^7.0.0`. */
export function oldestOf(range) {
  const versions = [...range.matchAll(/(?:\^|~|>=)\s*(\d+(?:\.\d+){0,2})/g)].map(([, version]) =>
    [...version.split("."), "0", "0"].slice(0, 3).map(Number),
  );
  if (versions.length === 0) throw new Error(`The range ${range} has no lower bound.`);
  return versions.toSorted(byVersion)[0].join(".");
}

/** The newest of these versions, without pre-releases. */
export function newestOf(versions) {
  const released = versions.filter((version) => /^\d+\.\d+\.\d+$/.test(version));
  const parts = released.map((version) => version.split(".").map(Number));
  return parts.toSorted(byVersion).at(-1)?.join(".");
}

function byVersion(one, other) {
  const at = one.findIndex((part, index) => part !== other[index]);
  return at === -1 ? 0 : one[at] - other[at];
}

function versionsOf({ package: name, peers, with: more = {}, installedAs }, edge) {
  const { manifest } = packages().find((each) => each.name === name);
  const chosen = peers.map((peer) => {
    const range = manifest.peerDependencies[peer];
    if (edge === "oldest") return [peer, oldestOf(range)];
    const found = JSON.parse(run("npm", ["view", `${peer}@${range}`, "version", "--json"]));
    return [peer, newestOf([found].flat())];
  });
  const renamed = chosen.map(([peer, version]) =>
    installedAs === undefined ? [peer, version] : [installedAs, `npm:${peer}@${version}`],
  );
  return { ...Object.fromEntries(renamed), ...more[edge] };
}

/**
 * pip's requirements for one end of the range that an extra in pyproject.toml, or an install line,
 * declares.
 */
export function requirementsOf(list, more, edge) {
  const declared = [...list.matchAll(/"([a-z][a-z0-9-]*(?:\[[a-z,]+\])?)([^"]*)"/g)].map(
    ([, name, range]) => [name, range],
  );
  const range = declared[0][1];
  return [...declared, ...more.map((name) => [name, range])].map(
    ([name, each]) => name + (edge === "oldest" ? `==${oldestOf(each)}` : each),
  );
}

export function declaredIn(pyproject, extra) {
  return new RegExp(`^${extra} = \\[(.*)\\]$`, "m").exec(pyproject)[1];
}

export function installedBy(page) {
  return /^pip install (.*)$/m.exec(page)[1];
}

function testPython(copy, name, edge) {
  const { page, with: more } = pythonFrameworks[name];
  const list =
    page === undefined
      ? declaredIn(readFileSync(join(root, "packages/python/pyproject.toml"), "utf8"), name)
      : installedBy(readFileSync(join(root, page), "utf8"));
  const requirements = requirementsOf(list, more, edge);
  console.log(`\n${name}, ${edge}: ${requirements.join(" ")}`);
  const args = requirements.map((each) => `--with=${each}`);
  const { status } = spawnSync(process.execPath, [join(copy, ".tools/python.mjs"), name, ...args], {
    cwd: copy,
    stdio: "inherit",
  });
  return status === 0;
}

/** A copy of the repository in which other versions can be installed. */
function copyOfWorkspace() {
  const copy = mkdtempSync(join(tmpdir(), "waybill-ranges-"));
  process.on("exit", () => rmSync(copy, { recursive: true, force: true }));
  const files = execFileSync("git", ["ls-files", "-z"], { cwd: root, encoding: "utf8" });
  for (const file of files.split("\0").filter(Boolean)) {
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    cpSync(join(root, file), join(copy, file));
  }
  return copy;
}

function install(copy, versions) {
  const settings = readFileSync(join(root, "pnpm-workspace.yaml"), "utf8");
  const OVERRIDES = /^overrides:\n((?: {2}.*\n)*)/m;
  const own = [...OVERRIDES.exec(settings)[1].matchAll(/^ {2}"(.+)": (.+)$/gm)];
  const all = {
    ...Object.fromEntries(own.map(([, name, version]) => [name, version])),
    ...versions,
  };
  const lines = Object.entries(all)
    .filter(([, version]) => version !== undefined)
    .map(([name, version]) => `  "${name}": ${version}\n`);
  const overridden = settings.replace(OVERRIDES, () => ["overrides:\n", ...lines].join(""));
  writeFileSync(join(copy, "pnpm-workspace.yaml"), overridden);
  const options = ["--no-frozen-lockfile", "--config.minimum-release-age=0"];
  run("pnpm", ["install", ...options], { cwd: copy, env: { ...process.env, CI: "true" } });
}

/** Installs into a folder with its own lock file. */
function installIn(folder, versions) {
  const path = join(folder, "package.json");
  const manifest = JSON.parse(readFileSync(path, "utf8"));
  const dependencies = { ...manifest.dependencies, ...versions };
  writeFileSync(path, JSON.stringify({ ...manifest, dependencies }));
  const options = ["--no-frozen-lockfile", "--config.minimum-release-age=0"];
  run("pnpm", ["install", ...options], { cwd: folder, env: { ...process.env, CI: "true" } });
}

/** Runs the package's own tests, if no suite of adapters covers it. */
function testPackage(copy, name) {
  const { folder, manifest } = packages().find((each) => each.name === name);
  const { status } = spawnSync("pnpm", ["--dir", join(copy, folder), "run", "test"], {
    cwd: copy,
    stdio: "inherit",
    timeout: 600_000,
    env: { ...process.env, CI: "true" },
  });
  console.log(`  ${manifest.name}: ${status === 0 ? "passed" : "FAILED"}`);
  return status === 0;
}

function test(copy, suite) {
  const args = [join(copy, ".tools/conformance.mjs"), suite, "--json"];
  // A run that hangs is a failure of the version: one of Mastra's hung.
  const { stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: copy,
    encoding: "utf8",
    timeout: 300_000,
    maxBuffer: 2 ** 28,
  });
  try {
    const { passed, failures, gaps } = JSON.parse(stdout);
    return { passed, gaps: gaps.length, failures: failures.map(({ case: name }) => name) };
  } catch {
    const last = `${stdout}${stderr}`.trim().split("\n").slice(-12).join("\n");
    return { passed: 0, gaps: 0, failures: [`it did not come to its end:\n${last}`] };
  }
}

function main(args) {
  const edges = EDGES.filter((edge) => args.includes(`--${edge}`));
  const names = args.filter((arg) => !arg.startsWith("--"));
  const all = [...Object.keys(frameworks), ...Object.keys(pythonFrameworks)];
  const unknown = [
    ...names.filter((name) => !all.includes(name)),
    ...args.filter((arg) => arg.startsWith("--") && !EDGES.includes(arg.slice(2))),
  ];
  if (unknown.length > 0) {
    console.error(
      `There is no ${unknown.join(", ")}. There are: ${all.join(", ")}, and the options --oldest and --newest.`,
    );
    return 2;
  }
  const copy = copyOfWorkspace();
  let isSound = true;
  for (const name of names.length > 0 ? names : all) {
    for (const edge of edges.length > 0 ? edges : EDGES) {
      if (Object.hasOwn(pythonFrameworks, name)) {
        install(copy, {});
        const isPassed = testPython(copy, name, edge);
        isSound &&= isPassed;
        continue;
      }
      const versions = versionsOf(frameworks[name], edge);
      console.log(`\n${name}, ${edge}: ${JSON.stringify(versions)}`);
      const { installedIn } = frameworks[name];
      install(copy, installedIn === undefined ? versions : {});
      if (installedIn !== undefined) installIn(join(copy, installedIn), versions);
      if (frameworks[name].suites === undefined) {
        const isPassed = testPackage(copy, frameworks[name].package);
        isSound &&= isPassed;
        continue;
      }
      for (const suite of frameworks[name].suites) {
        const { passed, gaps, failures } = test(copy, suite);
        console.log(`  ${suite}: ${passed} passed, ${failures.length} failed, ${gaps} gaps`);
        for (const failure of failures) console.log(`    ${failure}`);
        isSound &&= failures.length === 0 && passed > 0;
      }
    }
  }
  return isSound ? 0 : 1;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href)
  process.exitCode = main(process.argv.slice(2));
