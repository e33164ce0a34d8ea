// Checks what a user gets: every publishable package is packed, inspected, and installed in an empty
// folder.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { build, clean, publishablePackages } from "./build.mjs";
import { run } from "./command.mjs";
import { follow, stepsOf } from "./guide.mjs";
import { checkOldestNode } from "./oldest-node.mjs";
import { beginningOf, installationsOf } from "./page.mjs";
import { Program } from "./programs.mjs";
import { frameworks } from "./ranges.mjs";
import { findPython } from "./python-environment.mjs";
import { silence } from "./python-run.mjs";
import { findFaults, leaves } from "./tarball.mjs";
import { withOutput } from "./shown.mjs";
import { differences, liveThrough } from "./story.mjs";
import { lockedVersions, readManifest, root } from "./workspace.mjs";

const oldestNode = [22, 13];

// Outside the workspace, so that nothing is found in its node_modules.
const folder = mkdtempSync(join(tmpdir(), "waybill-check-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

let tarballs;

/** Packs every publishable package, once, and unpacks it. */
function pack() {
  if (tarballs) return tarballs;
  build();
  tarballs = publishablePackages().map((each) => {
    const printed = run("pnpm", ["pack", "--json", "--pack-destination", folder], {
      cwd: join(root, each.folder),
    });
    const { filename, files } = JSON.parse(printed);
    const unpacked = join(folder, each.name);
    mkdirSync(unpacked, { recursive: true });
    run("tar", ["-xzf", filename, "-C", unpacked, "--strip-components=1"]);
    const packed = JSON.parse(readFileSync(join(unpacked, "package.json"), "utf8"));
    return { ...each, file: filename, files: files.map(({ path }) => path), unpacked, packed };
  });
  return tarballs;
}

/** The packages that pnpm packs without their compiled code: their `prepack` must refuse that. */
function packedUnbuilt() {
  clean();
  return publishablePackages()
    .filter(hasSources)
    .filter(({ folder: cwd }) => {
      const args = ["pack", "--json", "--pack-destination", join(folder, "unbuilt")];
      const result = spawnSync("pnpm", args, { cwd: join(root, cwd), encoding: "utf8" });
      return result.status === 0 || !/ is not built: /.test(result.stderr + result.stdout);
    })
    .map(({ name }) => name);
}

/** The specification has no sources: its files are packed unchanged. */
function hasSources({ manifest }) {
  return [manifest.exports, manifest.bin].flatMap(leaves).some((path) => path.endsWith(".ts"));
}

export function checkPacked() {
  const faults = [
    ...packedUnbuilt().map((name) => `${name} is packed though it was never built`),
    ...pack().flatMap((tarball) => findFaults(tarball).map((fault) => `${tarball.name}: ${fault}`)),
  ];
  if (faults.length > 0) throw new Error(faults.join("\n"));
  for (const { file } of pack()) run("publint", ["run", file, "--strict"]);
  return pack()
    .map(({ name, files }) => `${name} (${files.length} files)`)
    .join(", ");
}

export async function checkInstalled() {
  const project = join(folder, "project");
  mkdirSync(project);
  const write = (name, content) => writeFileSync(join(project, name), content);
  const outside = { cwd: project, env: environmentOutside() };

  // Otherwise the latest peers of a framework would decide whether our packages can be installed.
  const overrides = lockedVersions();
  write("package.json", JSON.stringify({ private: true, type: "module", overrides }));
  const files = pack().map(({ file }) => file);
  const isOurs = (name) => pack().some(({ manifest }) => manifest.name === name);
  // The user installs the framework; here it is the version that is tested.
  const peers = pack().flatMap(({ manifest }) =>
    Object.keys(manifest.peerDependencies ?? {})
      .filter((name) => !isOurs(name))
      .map((name) => `${name}@${testedVersionOf(manifest, name)}`),
  );
  // The example for Mastra runs too, and needs its model provider.
  const provider = "@ai-sdk/openai-compatible";
  const added = [...files, ...peers, `${provider}@${overrides[provider]}`];
  run("npm", ["install", "--no-audit", "--no-fund", "--loglevel=error", ...added], outside);

  const entries = pack().flatMap(entryPoints);
  const imports = entries
    .map((entry, index) => `import * as entry${index} from "${entry}";`)
    .join("\n");
  const all = `[${entries.map((_, index) => `entry${index}`).join(", ")}]`;
  write(
    "import.mjs",
    `${imports}\nfor (const entry of ${all}) if (Object.keys(entry).length === 0) process.exit(1);\n`,
  );
  write("import.ts", `${imports}\nexport const all: object[] = ${all};\n`);
  const compilerOptions = {
    module: "nodenext",
    strict: true,
    skipLibCheck: false,
    types: [],
    noEmit: true,
  };
  // The types of a declared capability come from the shipped declarations.
  const typed = ["declared.ts", "first.ts", "adapter.ts"];
  for (const name of typed) write(name, readFileSync(join(root, "packages/agent/examples", name)));
  write("tsconfig.json", JSON.stringify({ compilerOptions, files: ["import.ts", ...typed] }));

  const nodes = [join(root, "node_modules/.bin/node"), ...nodeOfTheMachine(outside)];
  const versions = nodes.map((node) => {
    run(node, ["import.mjs"], outside);
    return run(node, ["--version"], outside).trim();
  });
  const oldest = `${oldestNode.join(".")}.0`;
  const tried = await checkOldestNode(oldest, project, outside.env);
  checkDeclarations(outside);

  // As a shell starts them: by their first line, with the first Node in the PATH.
  const PATH = [dirname(process.execPath), outside.env.PATH].join(delimiter);
  const commands = pack().flatMap(({ packed }) => Object.keys(packed.bin ?? {}));
  for (const name of commands) {
    const env = { ...outside.env, PATH };
    run(join(project, "node_modules/.bin", name), ["--help"], { ...outside, env });
  }
  return `${entries.length} entry points on Node ${versions.join(" and ")}, ${commands.length} commands; ${tried} on Node ${oldest}`;
}

/** It is installed by the workspace, or by the separate folder in which the package is tested with it. */
function testedVersionOf({ name, devDependencies }, peer) {
  const framework = Object.values(frameworks).find((each) => each.package === name);
  const { installedIn, installedAs = peer } = framework ?? {};
  const own = installedIn === undefined ? {} : readManifest(installedIn).dependencies;
  return { ...devDependencies, ...own }[installedAs].replace(/^npm:.*@/, "");
}

/** Our declarations must be valid without exceptions; those of a framework are its own responsibility. */
function checkDeclarations(outside) {
  try {
    run(join(root, "node_modules/.bin/tsc"), ["-p", "."], outside);
  } catch (error) {
    const faults = error.message.split("\n").filter((line) => line.includes(": error TS"));
    const ours = faults.filter((line) =>
      /^([a-z]+\.ts|node_modules\/(@waybill\/|waybill\/))/.test(line),
    );
    if (ours.length > 0) throw new Error(ours.join("\n"), { cause: error });
    if (faults.length === 0) throw error;
  }
}

/** Runs the story of the command's README in an empty folder, with the packed packages. */
export async function checkStory() {
  const cwd = emptyFolder("story");
  const page = join(root, "packages/waybill/README.md");
  const story = readFileSync(page, "utf8");
  return withRegistry(cwd, async (env) => {
    const commands = [
      ...beginningOf(story, "ts").install,
      /npm install @waybill\/agent/.exec(story)[0],
    ];
    for (const command of commands) run("sh", ["-c", command], { cwd, env });
    const { count, printed } = await liveThrough({
      story,
      agent: readFileSync(join(root, "packages/waybill/examples/agent.ts"), "utf8"),
      cwd,
      env,
    });
    const stale = differences(story, printed);
    if (stale.length > 0 && process.env.WAYBILL_STORY === "write") {
      // All of them, so that ids stay the same from one to the next.
      const written = [...printed].reduce(
        (text, [command, now]) => withOutput(text, command, now),
        story,
      );
      writeFileSync(page, written);
      return `${count} commands, wrote the output of ${stale.length}`;
    }
    if (stale.length > 0) throw new Error(staleText(stale));
    return printed.size === 0
      ? `${count} commands, outputs not compared: no script here`
      : `${count} commands`;
  });
}

function staleText(stale) {
  const shown = stale.map(
    ({ command, output, printed }) => `$ ${command}\n${output}\n\nnow prints:\n${printed}\n`,
  );
  return `${shown.join("\n")}\nThe README of packages/waybill shows other output. To write what is printed now: WAYBILL_STORY=write npm run check story`;
}

/** Runs the start of every README in an empty folder: its install line and its first code. */
export async function checkPages() {
  const pages = [
    "README.md",
    ...pack()
      .filter(({ name }) => !STARTED_OTHERWISE.has(name))
      .map((each) => `${each.folder}/README.md`),
  ];
  const begun = pages.map((page) => ({
    page,
    run: () => {
      const cwd = emptyFolder(`page-${page.replaceAll("/", "-")}`);
      return withRegistry(cwd, (env) => begin(page, cwd, env));
    },
  }));
  begun.push({ page: "packages/python/README.md", run: tryPython });
  const faults = [];
  for (const { page, run: beginPage } of begun) {
    try {
      await beginPage();
    } catch (error) {
      faults.push(`${page}: ${error.message}`);
    }
  }
  if (faults.length > 0) throw new Error(faults.join("\n\n"));
  return `${begun.length} pages`;
}

// The story covers the first, and the guide the other.
const STARTED_OTHERWISE = new Set(["waybill", "create-waybill-adapter"]);
// The first code of these waits for a worker in Python and for a gateway: the packages' own tests run
// it with one.
const WAITING = new Set([
  "packages/adapter-autogen/README.md",
  "packages/adapter-openclaw/README.md",
]);

function begin(page, cwd, env) {
  const { install, code, says } = beginningOf(readFileSync(join(root, page), "utf8"), "ts");
  for (const command of install)
    if (command.startsWith("npm ")) run("sh", ["-c", command], { cwd, env });
  if (WAITING.has(page)) return;
  writeFileSync(join(cwd, "first.mts"), code);
  // Without network, KaibanJS's telemetry ends the process, as its page says.
  const quiet = { ...env, KAIBAN_TELEMETRY_OPT_OUT: "1" };
  const said = run("node", ["first.mts"], { cwd, env: quiet, timeout: 120_000 });
  if (says !== undefined && said !== says)
    throw new Error(`Its first code prints\n${said}\nand the page says\n${says}`);
}

/**
 * The same for Python, and for each framework: the local wheel, everything else from the index, and a
 * hub started by the command.
 */
async function tryPython() {
  const cwd = emptyFolder("page-python");
  const page = readFileSync(join(root, "packages/python/README.md"), "utf8");
  const found = findPython();
  if (found === undefined) throw new Error("There is no Python 3.10 to 3.13 with venv here.");
  const env = environmentOutside();
  const wheels = join(cwd, "wheels");
  const source = join(root, "packages/python");
  run(found.command, ["-m", "pip", "wheel", "-q", "--no-deps", "-w", wheels, source], { cwd, env });
  await withRegistry(cwd, async (outside) => {
    run("sh", ["-c", "npm install --global waybill"], { cwd, env: outside });
    const hub = new Program("exec waybill dev --port 0", { cwd, env: outside });
    try {
      await hub.says(/waybill watch/);
      const url = readFileSync(join(cwd, ".waybill/hub.url"), "utf8").trim();
      for (const [index, { install, code }] of installationsOf(page, "py").entries()) {
        const venv = join(cwd, `venv-${index}`);
        run(found.command, ["-m", "venv", venv], { cwd, env });
        const PATH = [join(venv, "bin"), env.PATH].join(delimiter);
        const inside = { cwd, env: { ...env, PATH, PIP_FIND_LINKS: wheels } };
        for (const command of install) run("sh", ["-c", command], inside);
        const file = `page-${index}.py`;
        writeFileSync(join(cwd, file), code);
        const quiet = { ...inside.env, ...silence(cwd) };
        const said = run("python", [file, url], { cwd, env: quiet, timeout: 120_000 });
        if (said.trim() === "") throw new Error(`The code under ${install.join()} prints nothing.`);
      }
    } finally {
      await hub.ends("SIGKILL");
    }
  });
}

/** Follows the guide for adapter authors to the letter, with the packed packages. */
export async function checkGuide() {
  const cwd = emptyFolder("guide");
  const guide = readFileSync(join(root, "packages/adapter-echo/GUIDE.md"), "utf8");
  return withRegistry(cwd, (env) => {
    const said = follow(stepsOf(guide), { cwd, env });
    return [...said.matchAll(/Tests +(.*)/g)].map(([, tests]) => tests).join(", then ");
  });
}

function emptyFolder(name) {
  const place = join(folder, name);
  mkdirSync(place);
  return place;
}

/** Runs something while npm finds the packed packages here, and all others in its configured registry. */
async function withRegistry(cwd, use) {
  const env = environmentOutside();
  const upstream = run("npm", ["config", "get", "registry"], { cwd, env }).trim();
  const registry = spawn(
    process.execPath,
    [join(root, ".tools/registry.mjs"), upstream, ...pack().map(({ file }) => file)],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  try {
    const [address] = await once(registry.stdout.setEncoding("utf8"), "data");
    const PATH = [join(cwd, "global/bin"), join(root, "node_modules/node/bin"), env.PATH];
    return await use({
      ...env,
      PATH: PATH.join(delimiter),
      npm_config_registry: address.trim(),
      // Started by another Node, npm would look for the machine's settings beside that one.
      npm_config_globalconfig: run("npm", ["config", "get", "globalconfig"], { cwd, env }).trim(),
      // npm's own cache may contain an earlier package of the same version.
      npm_config_cache: join(folder, "npm-cache"),
      npm_config_prefix: join(cwd, "global"),
      npm_config_yes: "true",
      npm_config_audit: "false",
      NO_COLOR: "1",
    });
  } finally {
    registry.kill();
  }
}

function entryPoints({ name, packed }) {
  return Object.keys(packed.exports)
    .filter((subpath) => !subpath.includes("*") && !/\.(json|md)$/.test(subpath))
    .map((subpath) => name + subpath.slice(1));
}

/** The environment without the variables that npm and pnpm set for scripts of the workspace. */
function environmentOutside() {
  const entries = Object.entries(process.env).filter(
    ([name]) => !/^(npm_|pnpm_|node_path$|init_cwd$)/i.test(name),
  );
  const PATH = process.env.PATH.split(delimiter).filter((each) => !each.startsWith(root));
  return { ...Object.fromEntries(entries), PATH: PATH.join(delimiter) };
}

function nodeOfTheMachine(outside) {
  const [major, minor] = run("node", ["-p", "process.versions.node"], outside)
    .split(".")
    .map(Number);
  const isRecentEnough =
    major > oldestNode[0] || (major === oldestNode[0] && minor >= oldestNode[1]);
  return isRecentEnough ? ["node"] : [];
}
