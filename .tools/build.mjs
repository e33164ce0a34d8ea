// `npm run build`: builds everything that is published from scratch, because the leftovers of a
// deleted source would be packed too.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { run } from "./command.mjs";
import { packages, root } from "./workspace.mjs";

export function publishablePackages() {
  return packages().filter(({ manifest }) => !manifest.private);
}

export function clean() {
  for (const { folder } of publishablePackages())
    rmSync(join(root, folder, "dist"), { recursive: true, force: true });
}

export function build() {
  const publishable = publishablePackages();
  clean();
  run("tsc", ["-b", ...publishable.map(({ folder }) => folder)]);
  // If loading many small files would take time, one bundled file is shipped.
  for (const { folder, manifest } of publishable)
    if (manifest.scripts?.bundle) run("pnpm", ["--silent", "bundle"], { cwd: join(root, folder) });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) build();
