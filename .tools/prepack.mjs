// `pnpm pack` and `pnpm publish` run this first in each package: otherwise a package that was never
// built would be packed without its code, and without a warning.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { leaves } from "./tarball.mjs";

/** The files that a package promises in `publishConfig` and that are missing. */
export function unbuilt(folder) {
  const { publishConfig = {} } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const { exports, imports, bin } = publishConfig;
  const targets = [exports, imports, bin].flatMap(leaves);
  return [...new Set(targets)].filter(
    (target) => !target.includes("*") && !existsSync(join(folder, target)),
  );
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const missing = unbuilt(process.cwd());
  if (missing.length > 0) {
    console.error(
      `${process.cwd()} is not built: ${missing.join(", ")} ${missing.length === 1 ? "is" : "are"} missing. ` +
        "Nothing was packed. Build every package with `npm run build` in the root, and pack again.",
    );
    process.exit(1);
  }
}
