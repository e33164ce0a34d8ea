// The virtual environments of packages/python, and the wheel of it that is tested in them.
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { folder, run } from "./python-run.mjs";

const QUIETLY = ["install", "-q", "--disable-pip-version-check"];
const DIST = join(folder, "dist");

/** An environment and its contents: pip's arguments come after its path. */
const MAKE = `
import os, subprocess, sys, venv
place, *arguments = sys.argv[1:]
venv.create(place, clear=True, with_pip=True)
python = os.path.join(place, "Scripts" if os.name == "nt" else "bin", "python")
sys.exit(subprocess.call([python, "-m", "pip", *arguments]))
`;

const candidates = ["python3", "python3.13", "python3.12", "python3.11", "python3.10"];
const probe =
  "import sys, venv, ensurepip; print(sys.version.split()[0]); sys.exit(not (3, 10) <= sys.version_info < (3, 14))";

/** The first interpreter here that fits, or whether the one that is named does. */
export function findPython() {
  const named = process.env.PYTHON;
  for (const command of named === undefined ? candidates : [named]) {
    const { status, stdout } = spawnSync(command, ["-c", probe], { encoding: "utf8" });
    if (status === 0) return { command, version: stdout.trim() };
  }
  return undefined;
}

/** An environment with pinned and hashed requirements; it is created again when they change. */
export async function setUp(name, python) {
  const place = placeOf(name);
  const requirements = join(folder, "requirements", `${name}.txt`);
  const stamp = join(place, ".waybill-setup");
  const fingerprint = createHash("sha256")
    .update(`${python.version}\0${python.command}\0`)
    .update(readFileSync(requirements))
    .digest("hex");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === fingerprint) return true;
  console.log(`=== ${name}: setting up (once)`);
  rmSync(place, { recursive: true, force: true });
  mkdirSync(join(folder, ".venvs"), { recursive: true });
  const pinned = ["--require-hashes", "--only-binary", ":all:", "-r", requirements];
  const making = spawn(python.command, ["-c", MAKE, place, ...QUIETLY, ...pinned], {
    stdio: "inherit",
  });
  const isMade = await new Promise((resolve) => {
    making.once("error", () => resolve(false));
    making.once("close", (status) => resolve(status === 0));
  });
  if (isMade) writeFileSync(stamp, fingerprint);
  return isMade;
}

/** Installs other versions into an environment; the next run with the pinned ones creates it again. */
export function alter(name, requirements) {
  rmSync(join(placeOf(name), ".waybill-setup"), { force: true });
  return run(
    programOf(name, "python"),
    ["-m", "pip", ...QUIETLY, "--upgrade", ...requirements],
    name,
  );
}

const installed = new Set();

/** Tests run on what is published: a wheel, and the sdist beside it. */
export function install(name) {
  if (installed.has(name)) return true;
  const python = programOf(name, "python");
  rmSync(DIST, { recursive: true, force: true });
  if (!run(python, ["-m", "hatchling", "build"], name)) return false;
  const wheel = readdirSync(DIST).find((file) => file.endsWith(".whl"));
  const alone = ["--no-deps", "--no-index", "--force-reinstall", join(DIST, wheel)];
  if (!run(python, ["-m", "pip", ...QUIETLY, ...alone], name)) return false;
  installed.add(name);
  return true;
}

export function programOf(name, program) {
  return join(placeOf(name), process.platform === "win32" ? "Scripts" : "bin", program);
}

function placeOf(name) {
  return join(folder, ".venvs", name);
}
