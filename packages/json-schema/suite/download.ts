import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

// No npm package has the suite for draft 2020-12. The source package of Python's validator has.
const PACKAGE = "jsonschema-4.26.0";
const ADDRESS = `https://files.pythonhosted.org/packages/b3/fc/e067678238fa451312d4c62bf6e6cf5ec56375422aee02f9cb5f909b3047/${PACKAGE}.tar.gz`;
const SHA256 = "0c26707e2efad8aa1bfc5b7ce170f3fccc2e4918ff85989ba9ffa9facb2be326";

const CACHE = fileURLToPath(new URL(`../node_modules/.cache/suite/${PACKAGE}`, import.meta.url));

/** The folder of the official test suite, which is downloaded once from the Python Package Index. */
export async function downloadSuite(): Promise<string> {
  if (!existsSync(CACHE)) await unpack(await download());
  return join(CACHE, "json");
}

async function download(): Promise<Uint8Array> {
  const response = await fetch(ADDRESS);
  if (!response.ok) throw new Error(`${ADDRESS} answers ${response.status}.`);
  const archive = new Uint8Array(await response.arrayBuffer());
  const digest = createHash("sha256").update(archive).digest("hex");
  if (digest !== SHA256) throw new Error(`${ADDRESS} has the SHA-256 ${digest}, not ${SHA256}.`);
  return archive;
}

/** Unpacks beside the cache and renames, so that an interrupted run leaves no half of it there. */
async function unpack(archive: Uint8Array): Promise<void> {
  await mkdir(dirname(CACHE), { recursive: true });
  const folder = await mkdtemp(`${CACHE}-`);
  const file = join(folder, "package.tar.gz");
  await writeFile(file, archive);
  await promisify(execFile)("tar", ["-xzf", file, "-C", folder, "--strip-components=1"]);
  await rename(folder, CACHE).catch(async (error: unknown) => {
    await rm(folder, { recursive: true, force: true });
    // Another run was faster.
    if (!existsSync(CACHE)) throw error;
  });
}
