import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("..", import.meta.url));

// What `npm run demo` installs (with its dependencies) and runs.
export const demo = {
  package: "@waybill/bridge",
  entry: "apps/bridge/src/demo.ts",
};

export const rootManifest = readManifest(".");

/** Every package and app: its name, its folder relative to the root, and its package.json. */
export function packages() {
  return ["packages", "apps"]
    .flatMap((parent) => children(parent).map((child) => `${parent}/${child}`))
    .filter((folder) => existsSync(join(root, folder, "package.json")))
    .map((folder) => {
      const manifest = readManifest(folder);
      return { name: manifest.name, folder, manifest };
    });
}

function children(parent) {
  return existsSync(join(root, parent)) ? readdirSync(join(root, parent)).sort() : [];
}

export function readManifest(folder) {
  return JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));
}

/** The version in the lock file of every package that has only one there. */
export function lockedVersions() {
  const lock = readFileSync(join(root, "pnpm-lock.yaml"), "utf8");
  const [, section] = /^packages:\n(.*?)^\w/ms.exec(lock);
  const versions = new Map();
  for (const [, name, version] of section.matchAll(/^ {2}'?(@?[^@'\s]+)@([^'():]+)'?:$/gm))
    versions.set(name, versions.has(name) ? undefined : version);
  return Object.fromEntries([...versions].filter(([, version]) => version !== undefined));
}
