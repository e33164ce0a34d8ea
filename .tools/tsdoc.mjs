// Which exported symbols of the packages have no TSDoc: `node .tools/tsdoc.mjs` lists them all,
// `node .tools/tsdoc.mjs agent` those of one package. `npm run check tsdoc` fails where there are any.
import { readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { parseSync } from "rolldown/utils";
import { packages, root } from "./workspace.mjs";

/** What each package exports, and which of it nothing is said about. */
export function survey(all = packages(), read = (path) => readFileSync(path, "utf8")) {
  const reader = new Reader(all, read);
  return all
    .filter(({ manifest }) => !manifest.private)
    .map(({ name, folder, manifest }) => {
      const symbols = new Map();
      for (const entry of sourcesOf(manifest)) {
        for (const symbol of reader.exportsOf(join(root, folder, entry)).values())
          symbols.set(`${symbol.file} ${symbol.name}`, symbol);
      }
      const found = [...symbols.values()];
      return { name, count: found.length, lacking: found.filter((each) => !each.isDocumented) };
    });
}

/** For `npm run check`: throws where something is exported without a comment. */
export function checkTsdoc() {
  const found = survey();
  const faults = found.flatMap(({ name, lacking }) =>
    lacking.map((symbol) => `${name}: ${describe(symbol)}`),
  );
  if (faults.length > 0)
    throw new Error(`These are exported without a TSDoc comment:\n${faults.join("\n")}`);
  const count = found.reduce((sum, each) => sum + each.count, 0);
  return `${count} exported symbols of ${found.length} packages`;
}

function describe({ name, file, line }) {
  return `${name} (${relative(root, file)}:${line})`;
}

/** The TypeScript files that a package exports under one subpath or another. */
function sourcesOf({ exports = {} }) {
  return Object.values(exports).filter((path) => typeof path === "string" && path.endsWith(".ts"));
}

class Reader {
  #packages;
  #read;
  #modules = new Map();

  constructor(all, read) {
    this.#packages = new Map(all.map((each) => [each.name, each]));
    this.#read = read;
  }

  /** Everything that a file exports, by name, with the place where it is declared. */
  exportsOf(file) {
    const { exported, stars } = this.#module(file);
    const found = new Map();
    for (const from of stars)
      for (const [name, symbol] of this.#exportsFrom(from, file)) found.set(name, symbol);
    for (const [name, { from, local }] of exported) {
      const symbol = this.#symbol(file, from, local);
      if (symbol !== undefined) found.set(name, symbol);
    }
    return found;
  }

  #symbol(file, from, local) {
    if (from !== undefined) return this.#exportsFrom(from, file).get(local);
    const { declared, imported } = this.#module(file);
    const origin = imported.get(local);
    return origin === undefined
      ? declared.get(local)
      : this.#symbol(file, origin.from, origin.name);
  }

  /** What a framework or another library exports is its own business. */
  #exportsFrom(specifier, importer) {
    const file = this.#resolve(specifier, importer);
    return file === undefined ? new Map() : this.exportsOf(file);
  }

  #resolve(specifier, importer) {
    if (specifier.startsWith(".")) return join(dirname(importer), specifier);
    const [, name, subpath = ""] = /^((?:@[^/]+\/)?[^/]+)(\/.*)?$/.exec(specifier) ?? [];
    const found = this.#packages.get(name);
    const path = found?.manifest.exports?.[`.${subpath}`];
    return typeof path === "string" ? join(root, found.folder, path) : undefined;
  }

  #module(file) {
    let known = this.#modules.get(file);
    if (known === undefined) this.#modules.set(file, (known = parse(file, this.#read(file))));
    return known;
  }
}

/** What one file declares, imports and exports. */
function parse(file, source) {
  const { program, comments, errors } = parseSync(file, source);
  if (errors.length > 0) throw new Error(`${file} can't be read: ${errors[0].message}`);
  const docs = comments.filter(({ type, value }) => type === "Block" && value.startsWith("*"));
  // A comment belongs to what follows it with nothing but space in between.
  const isDocumented = (start) =>
    docs.some(({ end }) => /^\s*$/.test(source.slice(end, start)) && end <= start);
  const lineOf = (start) => source.slice(0, start).split("\n").length;
  const module = { declared: new Map(), imported: new Map(), exported: new Map(), stars: [] };

  for (const statement of program.body) {
    const from = statement.source?.value;
    if (statement.type === "ImportDeclaration") {
      for (const { local, imported } of statement.specifiers)
        if (imported !== undefined) module.imported.set(local.name, { from, name: imported.name });
    } else if (statement.type === "ExportAllDeclaration") module.stars.push(from);
    else {
      const isExport = statement.type === "ExportNamedDeclaration";
      for (const { local, exported } of (isExport && statement.specifiers) || [])
        module.exported.set(exported.name, { from, local: local.name });
      const declaration = isExport ? statement.declaration : statement;
      for (const name of namesOf(declaration)) {
        const { start } = statement;
        const symbol = { name, file, line: lineOf(start), isDocumented: isDocumented(start) };
        // Of several overloads the first one with a comment speaks for all.
        if (module.declared.get(name)?.isDocumented !== true) module.declared.set(name, symbol);
        if (isExport) module.exported.set(name, { local: name });
      }
    }
  }
  return module;
}

function namesOf(declaration) {
  if (declaration?.type === "VariableDeclaration")
    return declaration.declarations.flatMap(({ id }) => (id.type === "Identifier" ? id.name : []));
  return declaration?.id?.name === undefined ? [] : [declaration.id.name];
}

function main(wanted) {
  for (const { name, count, lacking } of survey()) {
    if (wanted.length > 0 && !wanted.some((each) => name === each || name === `@waybill/${each}`))
      continue;
    console.log(`${name}: ${lacking.length} of ${count} exported symbols have no TSDoc`);
    for (const symbol of lacking) console.log(`  ${describe(symbol)}`);
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) main(process.argv.slice(2));
