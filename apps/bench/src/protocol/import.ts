/// <reference types="node" />
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Case } from "../group.ts";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../../../../", import.meta.url));

/** The import of one package, in a fresh process each time, and timed inside it. */
export function importCase(name: string, specifier: string): Case {
  let folder: string | undefined;
  const program =
    `const start = performance.now(); await import(${JSON.stringify(specifier)}); ` +
    "console.log(performance.now() - start);";
  return {
    name,
    async prepare() {
      folder = mkdtempSync(join(tmpdir(), "waybill-bench-"));
      await install("protocol", join(folder, "node_modules"));
    },
    async run(imports) {
      let ms = 0;
      for (let i = 0; i < imports; i++) {
        const { stdout } = await run(process.execPath, ["--input-type=module", "-e", program], {
          cwd: folder!,
        });
        ms += Number(stdout);
      }
      return ms;
    },
    dispose() {
      if (folder !== undefined) rmSync(folder, { recursive: true });
    },
  };
}

/**
 * A package as its users have it, compiled and with `publishConfig` applied. The workspace's own
 * manifest points at the TypeScript sources, whose types would be stripped again in every process.
 */
async function install(name: string, modules: string): Promise<void> {
  const source = join(root, "packages", name);
  const target = join(modules, "@waybill", name);
  await compile(source, join(target, "dist"));
  const { publishConfig, ...manifest } = JSON.parse(
    readFileSync(join(source, "package.json"), "utf8"),
  );
  const PATH = join(root, "node_modules/.bin") + delimiter + process.env["PATH"];
  await run("sh", ["-c", manifest.scripts.bundle], {
    cwd: target,
    env: { ...process.env, PATH },
  });
  writeFileSync(join(target, "package.json"), JSON.stringify({ ...manifest, ...publishConfig }));
  for (const dependency of Object.keys(manifest.dependencies ?? {})) {
    const [scope, ours] = dependency.split("/");
    if (scope === "@waybill") await install(ours!, modules);
    else link(join(source, "node_modules", dependency), join(modules, dependency));
  }
}

function link(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  symlinkSync(from, to, "junction");
}

/** JavaScript only, without type checking, which is the job of `check`. */
async function compile(source: string, folder: string): Promise<void> {
  const switchedOff = ["composite", "incremental", "declaration", "isolatedDeclarations"];
  const options = switchedOff.flatMap((option) => [`--${option}`, "false"]);
  options.push("--project", source, "--outDir", folder, "--noCheck", "--tsBuildInfoFile", "null");
  await run(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), ...options]);
}
