/// <reference types="node" />
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { isFrameworkName, packageNameOf, renamed, renamedPage } from "./rename.ts";

/** The name and the place of the new adapter. */
export interface CreateOptions {
  /** The framework's name in lower case: `acme`, `my-frame`. */
  readonly name: string;
  /** The folder of the adapter, which must be empty or missing. By default it has the package's name. */
  readonly folder?: string | undefined;
  /** The folder of the template; by default the one in this package. */
  readonly template?: string | undefined;
}

/** The adapter package that was written. */
export interface Created {
  readonly folder: string;
  readonly packageName: string;
  readonly files: readonly string[];
}

/** Files that have a meaning for npm inside a package have other names in the template. */
const KEPT_ASIDE: Readonly<Record<string, string>> = {
  "_package.json": "package.json",
  _gitignore: ".gitignore",
};

/** Copies the template under the framework's name. */
export async function createAdapter(options: CreateOptions): Promise<Created> {
  const { name } = options;
  const template = options.template ?? join(import.meta.dirname, "../dist/template");
  if (!isFrameworkName(name)) {
    throw new Error(
      `"${name}" can't be part of a package name: write the framework in lower case, such as acme or my-frame.`,
    );
  }
  const packageName = packageNameOf(name);
  const folder = resolve(options.folder ?? packageName);
  if ((await namesIn(folder)).length > 0) {
    throw new Error(`${folder} is not empty: name another folder, or empty it.`);
  }
  const found = await readdir(template, { recursive: true, withFileTypes: true });
  const files: string[] = [];
  for (const entry of found) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name).slice(template.length + 1);
    const target = renamed(KEPT_ASIDE[path] ?? path, name);
    await mkdir(dirname(join(folder, target)), { recursive: true });
    const text = await readFile(join(template, path), "utf8");
    const written = path.endsWith(".md") ? renamedPage(text, name) : renamed(text, name);
    await writeFile(join(folder, target), written);
    files.push(target);
  }
  return { folder, packageName, files: files.toSorted() };
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}
