/// <reference types="node" />
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";

const ROOT = join(import.meta.dirname, "../../..");
const SOURCE = join(ROOT, "packages/adapter-echo");
const COPIED = ["src", "examples"];
/** Where the contract is in an adapter that has its dependencies installed. */
const CONTRACT = "node_modules/@waybill/agent/ADAPTERS.md";
/** The part of the guide for an adapter in this workspace, which the copy is not. */
const IN_THE_WORKSPACE = /^## \d+\. Contribute it[\s\S]*/m;
/** A command of this workspace plants its faults in adapter-echo. */
const FAULTS = "sabotage.json";

interface Manifest {
  [member: string]: unknown;
  readonly version: string;
  readonly files: readonly string[];
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

/**
 * Writes the template into a folder: adapter-echo, with everything that it takes from the workspace
 * written out.
 */
export function writeTemplate(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const name of COPIED) {
    cpSync(join(SOURCE, name), join(folder, name), {
      recursive: true,
      filter: (path) => basename(path) !== FAULTS,
    });
  }
  const readme = readFileSync(join(SOURCE, "README.md"), "utf8");
  writeFileSync(join(folder, "README.md"), readmeOf(readme));
  const guide = readFileSync(join(SOURCE, "GUIDE.md"), "utf8");
  writeFileSync(join(folder, "GUIDE.md"), guideOf(guide));
  writeFileSync(join(folder, "_gitignore"), "node_modules/\ndist/\n");
  write(folder, "_package.json", manifestOf(manifestIn(SOURCE), manifestIn(ROOT)));
  write(
    folder,
    "tsconfig.json",
    compilerOf(JSON.parse(readFileSync(join(ROOT, "tsconfig.base.json"), "utf8"))),
  );
}

function manifestOf(own: Manifest, root: Manifest): object {
  const {
    exports: _,
    publishConfig: __,
    scripts: ___,
    // The copy has its own repository, and its own history.
    repository: ____,
    homepage: _____,
    bugs: ______,
    files,
    version,
    dependencies,
    devDependencies,
    ...others
  } = own;
  const tools = ["typescript", "vitest"].map((name) => [name, root.devDependencies?.[name] ?? "*"]);
  return {
    ...others,
    version,
    files: files.filter((file) => file !== "CHANGELOG.md"),
    exports: { ".": "./dist/index.js" },
    // The example imports the package by its name, so it gets the built code.
    scripts: { prepack: "tsc", pretest: "tsc", test: "vitest run --dir src" },
    dependencies: published(dependencies!, version),
    devDependencies: { ...published(devDependencies!, version), ...Object.fromEntries(tools) },
  };
}

/** All packages of Waybill have the same version. */
function published(all: Readonly<Record<string, string>>, version: string): object {
  return Object.fromEntries(
    Object.entries(all).map(([name, wanted]) => [
      name,
      wanted.startsWith("workspace:") ? `^${version}` : wanted,
    ]),
  );
}

function compilerOf({ compilerOptions }: { compilerOptions: Record<string, unknown> }): object {
  const { composite: _, tsBuildInfoFile: __, ...others } = compilerOptions;
  return {
    compilerOptions: { ...others, types: ["node"], rootDir: "src", outDir: "dist" },
    include: ["src"],
  };
}

/** Without the marks with which the workspace checks its READMEs, and without links out of the folder. */
function readmeOf(text: string): string {
  return text
    .replaceAll(/<!-- \/?example.*-->\n/g, "")
    .replaceAll("../agent/ADAPTERS.md", CONTRACT);
}

/** The guide's example is a framework called acme; the copy has the new framework's name instead. */
function guideOf(text: string): string {
  return text
    .replace(IN_THE_WORKSPACE, "")
    .replaceAll("Acme", "Echo")
    .replaceAll("acme", "echo")
    .replaceAll("../agent/ADAPTERS.md", CONTRACT);
}

function manifestIn(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
}

function write(folder: string, name: string, value: object): void {
  writeFileSync(join(folder, name), `${JSON.stringify(value, undefined, 2)}\n`);
}
