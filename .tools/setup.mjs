import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { demo, packages, root, rootManifest } from "./workspace.mjs";

export class SetupError extends Error {}

// The root's `dependencies` are needed to run anything (the Node runtime), and its
// `devDependencies` are a contributor's tools: so --prod is exactly what a demo needs.
const scopes = {
  demo: {
    says: "the Node runtime and the demo's packages",
    args: ["--prod", "--filter", rootManifest.name, "--filter", `${demo.package}...`],
  },
  all: { says: "the Node runtime, the tools and all packages", args: [] },
};

const stampFile = join(root, "node_modules", ".waybill-setup.json");
const pnpm = rootManifest.packageManager;

/** Installs what `scope` needs, unless the last set-up did so from the same files. */
export async function setUp(scope) {
  const fingerprint = fingerprintOfInputs();
  const last = lastSetUp();
  if (last.fingerprint === fingerprint && (last.scope === "all" || last.scope === scope)) return;

  requireNode();
  const wanted = last.scope === "all" ? "all" : scope;
  const start = Date.now();
  console.error(`Setting up (once): ${scopes[wanted].says}, by npx and ${pnpm}.`);
  await install(scopes[wanted].args);
  writeFileSync(stampFile, `${JSON.stringify({ scope: wanted, fingerprint })}\n`);
  console.error(`Set up in ${((Date.now() - start) / 1000).toFixed(1)} s.\n`);
}

function fingerprintOfInputs() {
  const hash = createHash("sha256").update(`${process.platform} ${process.arch}`);
  const folders = packages().map(({ folder }) => `${folder}/package.json`);
  for (const file of ["pnpm-lock.yaml", "pnpm-workspace.yaml", "package.json", ...folders]) {
    hash.update(`\0${file}\0`).update(readFileSync(join(root, file)));
  }
  return hash.digest("hex");
}

function lastSetUp() {
  if (existsSync(stampFile)) return JSON.parse(readFileSync(stampFile, "utf8"));
  // Installed by hand: a demo's smaller set-up would remove the tools.
  const isInstalledByHand = existsSync(join(root, "node_modules", ".modules.yaml"));
  return isInstalledByHand ? { scope: "all" } : {};
}

function requireNode() {
  if (Number(process.versions.node.split(".")[0]) >= 20) return;
  throw new SetupError(
    `this is Node ${process.versions.node}, and setting up needs Node 20 or newer. ` +
      "Install a newer Node and run the command again (the rest of the tools it fetches itself).",
  );
}

async function install(args) {
  const { code, output } = await run("npx", [
    "--yes",
    "--loglevel=error",
    // npm waits a minute between two tries by default, which looks like a hang without network.
    "--fetch-retry-mintimeout=1000",
    "--fetch-retry-maxtimeout=5000",
    pnpm,
    "install",
    "--frozen-lockfile",
    // The age rule protects changes of the lock file, and applies when they are made. Here it would
    // query the registry for every package in the lock file, and a demo needs only a few of them.
    "--config.minimum-release-age=0",
    ...args,
  ]);
  if (code === 0) return;
  console.error(`\n${output.trim()}`);
  throw new SetupError(explain(output, code));
}

function run(command, args) {
  return new Promise((resolve, reject) => {
    let output = "";
    const child = spawn(command, args, {
      cwd: root,
      // CI=true: pnpm must never wait for an answer, because there may be nobody to give it.
      env: { ...process.env, CI: "true" },
      shell: process.platform === "win32",
      stdio: ["ignore", "pipe", "pipe"],
    });
    const read = (chunk) => {
      output += chunk;
      for (const [, progress] of chunk.matchAll(/^Progress: (.+)$/gm))
        console.error(`  ${progress}`);
    };
    child.stdout.setEncoding("utf8").on("data", read);
    child.stderr.setEncoding("utf8").on("data", read);
    child.on("close", (code) => resolve({ code, output }));
    child.on("error", (error) =>
      reject(
        new SetupError(
          `\`${command}\` did not start (${error.message}). It comes with npm, and fetches pnpm, ` +
            "which installs this workspace. Install npm, or put it on PATH, and run the command again.",
        ),
      ),
    );
  });
}

const causes = [
  {
    pattern:
      /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|META_FETCH_FAIL|fetch failed|dns error/i,
    says:
      "the package registry could not be reached. Check the network, and the proxy and registry " +
      "settings of npm (`npm config list`), then run the command again.",
  },
  {
    pattern: /OUTDATED_LOCKFILE|NO_IMPORTER|frozen-lockfile/,
    says:
      "pnpm-lock.yaml does not fit the package.json files. Run " +
      `\`npx ${pnpm} install\`, which brings it up to date, and commit it with your change.`,
  },
  {
    pattern: /ENOSPC|No space left/i,
    says: "the disk is full. The whole set-up takes about 600 MB; make room and run the command again.",
  },
];

function explain(output, code) {
  const cause = causes.find(({ pattern }) => pattern.test(output));
  return (
    cause?.says ??
    `installing with ${pnpm} ended with exit code ${code}; what it said stands above. ` +
      "Mend what it names and run the command again."
  );
}
