import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

// No npm package contains the suite for draft 2020-12. The source package of Python's validator does.
const VERSION = "4.26.0";
const SHA256 = "0c26707e2efad8aa1bfc5b7ce170f3fccc2e4918ff85989ba9ffa9facb2be326";

const PACKAGE = `jsonschema-${VERSION}`;
const CACHE = fileURLToPath(new URL(`../node_modules/.cache/suite/${PACKAGE}`, import.meta.url));
const python = process.env["PYTHON"] ?? "python3";
const runs = promisify(execFile);

/** The folder of the official test suite, which is downloaded once from the package index that pip is set to. */
export async function downloadSuite(): Promise<string> {
  if (!existsSync(CACHE)) await fillCache();
  return join(CACHE, "json");
}

/** Unpacks beside the cache and renames, so that an interrupted run leaves no partial cache. */
async function fillCache(): Promise<void> {
  await mkdir(dirname(CACHE), { recursive: true });
  const folder = await mkdtemp(`${CACHE}-`);
  try {
    const archive = await download(folder);
    const unpacked = join(folder, "unpacked");
    await mkdir(unpacked);
    await runs("tar", ["-xzf", archive, "-C", unpacked, "--strip-components=1"]);
    await rename(unpacked, CACHE);
  } catch (error) {
    // Another run may have been faster.
    if (!existsSync(CACHE)) throw error;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** With pip, which uses this machine's index, certificates and proxy. */
async function download(folder: string): Promise<string> {
  // Pip checks the hash before it opens the package.
  const requirements = join(folder, "requirements.txt");
  await writeFile(requirements, `jsonschema==${VERSION} --hash=sha256:${SHA256}\n`);
  const asked = ["--no-deps", "--no-binary", "jsonschema", "--dest", folder, "-r", requirements];
  await runs(python, ["-m", "pip", "download", "--quiet", ...asked]).catch((error: unknown) => {
    throw new Error(reasonOf(error), { cause: error });
  });
  return join(folder, `${PACKAGE}.tar.gz`);
}

function reasonOf(error: unknown): string {
  const { code, stderr = "" } = error as { code?: unknown; stderr?: string };
  if (code === "ENOENT" || stderr.includes("No module named pip")) {
    return `${PACKAGE} is downloaded by pip, and there is no ${python} with pip here. Install it, or name another Python in the environment variable PYTHON.`;
  }
  return `pip could not download ${PACKAGE}:\n${stderr.trim()}`;
}
