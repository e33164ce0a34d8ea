/// <reference types="node" />
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const PACKAGE = fileURLToPath(new URL("..", import.meta.url));
/** What the built page is made from. */
const SOURCES = ["page", "build", "package.json", "../protocol/src", "../json-schema/src"];
const CACHE = join(PACKAGE, "node_modules/.cache/console");

/** The folder of the page in a checkout: built on demand, and again once a source has changed. */
export async function pageFolder(): Promise<string> {
  const built = join(CACHE, await stateOfSources());
  if (existsSync(built)) return built;
  await mkdir(CACHE, { recursive: true });
  const folder = await mkdtemp(join(CACHE, "building-"));
  const { buildPage } = await builder();
  await buildPage(folder);
  try {
    await rename(folder, built);
  } catch (error) {
    // Another process has built the same page meanwhile.
    if (!existsSync(built)) throw error;
    await rm(folder, { recursive: true });
  }
  return built;
}

interface Builder {
  buildPage(folder: string): Promise<void>;
}

/** Loaded by its address: a package is built without it, so its users need no builder. */
async function builder(): Promise<Builder> {
  try {
    return (await import(new URL("../build/page.ts", import.meta.url).href)) as Builder;
  } catch (cause) {
    // `npm run demo` installs what runs, and not what builds.
    throw new Error(
      "The console of this checkout can't be built, because its builder is not installed. Install everything with: npm run build",
      { cause },
    );
  }
}

async function stateOfSources(): Promise<string> {
  const hash = createHash("sha256");
  for (const path of SOURCES) {
    const place = join(PACKAGE, path);
    const isFolder = (await stat(place)).isDirectory();
    const names = isFolder ? (await readdir(place, { recursive: true })).toSorted() : [""];
    for (const name of names) {
      const found = await stat(join(place, name));
      if (found.isFile()) hash.update(`${path}/${name} ${found.size} ${found.mtimeMs}\n`);
    }
  }
  return hash.digest("hex").slice(0, 16);
}
