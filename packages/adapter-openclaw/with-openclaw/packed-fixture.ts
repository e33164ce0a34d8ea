/// <reference types="node" />
import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const PACKAGES = fileURLToPath(new URL("../../", import.meta.url));

/** What the plugin brings along of this project, and itself. */
const PACKED = ["json-schema", "protocol", "agent", "adapter-openclaw"];

const run = promisify(execFile);

/** The package as its users get it, built and packed and installed. Gives its folder. */
export async function installPacked(folder: string): Promise<string> {
  await mkdir(folder);
  await run("tsc", ["-b", ...PACKED.map((name) => join(PACKAGES, name))]);
  const tarballs: string[] = [];
  for (const name of PACKED) {
    const cwd = join(PACKAGES, name);
    // Some are shipped as one file.
    await run("pnpm", ["--silent", "--if-present", "run", "bundle"], { cwd });
    const args = ["pack", "--json", "--pack-destination", folder];
    const { stdout } = await run("pnpm", args, { cwd });
    tarballs.push((JSON.parse(stdout) as { filename: string }).filename);
  }
  await writeFile(join(folder, "package.json"), JSON.stringify({ private: true }));
  const args = ["install", "--no-audit", "--no-fund", "--prefer-offline", ...tarballs];
  await run("npm", args, { cwd: folder });
  return join(folder, "node_modules/@waybill/adapter-openclaw");
}
