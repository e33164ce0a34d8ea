/// <reference types="node" />
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { isFrameworkName, packageNameOf, renamed } from "./rename.ts";

/** What the new adapter is called, and where it goes. */
export interface CreateOptions {
  /** What the framework is called, in lower case: `acme`, `my-frame`. */
  readonly name: string;
  /** Where the adapter goes: a folder that is empty or not there. Left out: its package's name. */
  readonly folder?: string | undefined;
  /** Where the template lies; left out, the one that comes with this package. */
  readonly template?: string | undefined;
}

/** The adapter package that was written. */
export interface Created {
  readonly folder: string;
  readonly packageName: string;
  readonly files: readonly string[];
}

/** Files that would mean something to npm inside a package lie in the template under other names. */
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
    await writeFile(
      join(folder, target),
      renamed(await readFile(join(template, path), "utf8"), name),
    );
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
