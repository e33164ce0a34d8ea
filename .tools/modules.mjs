// What the TypeScript files of the packages declare, import and export, according to their syntax.
import { dirname, join } from "node:path";
import { parseSync } from "rolldown/utils";
import { leaves } from "./tarball.mjs";
import { root } from "./workspace.mjs";

/** The TypeScript files that a package exports, each with its subpath. */
export function sourcesOf({ exports = {} }) {
  return Object.entries(exports).filter(
    ([, path]) => typeof path === "string" && path.endsWith(".ts"),
  );
}

/** Reads modules of the workspace, each once. */
export class Reader {
  #packages;
  #read;
  #modules = new Map();

  constructor(all, read) {
    this.#packages = new Map(all.map((each) => [each.name, each]));
    this.#read = read;
  }

  /** The exports of a file, by name, with the place of their declaration. */
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

  /** The symbols in the signature of a symbol. */
  namedBy(symbol) {
    return symbol.names
      .map((name) => this.#symbol(symbol.file, undefined, name))
      .filter((named) => named !== undefined);
  }

  #symbol(file, from, local) {
    if (from !== undefined) return this.#exportsFrom(from, file).get(local);
    const { declared, imported } = this.#module(file);
    const origin = imported.get(local);
    return origin === undefined
      ? declared.get(local)
      : this.#symbol(file, origin.from, origin.name);
  }

  /** Exports of other libraries are not examined. */
  #exportsFrom(specifier, importer) {
    const file = this.#resolve(specifier, importer);
    return file === undefined ? new Map() : this.exportsOf(file);
  }

  #resolve(specifier, importer) {
    if (specifier.startsWith(".")) return join(dirname(importer), specifier);
    if (specifier.startsWith("#")) return this.#internal(specifier, importer);
    const [, name, subpath = ""] = /^((?:@[^/]+\/)?[^/]+)(\/.*)?$/.exec(specifier) ?? [];
    const found = this.#packages.get(name);
    const path = found?.manifest.exports?.[`.${subpath}`];
    return typeof path === "string" ? join(root, found.folder, path) : undefined;
  }

  /** The target of a package's own import name. Of several files, the first is the one that Node loads. */
  #internal(specifier, importer) {
    const own = [...this.#packages.values()].find(({ folder }) =>
      importer.startsWith(join(root, folder, "/")),
    );
    const [path] = leaves(own?.manifest.imports?.[specifier]);
    return path === undefined ? undefined : join(root, own.folder, path);
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
  // A comment belongs to the next declaration, with only whitespace in between.
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
        const names = namesIn(declaration);
        const symbol = {
          name,
          file,
          line: lineOf(start),
          isDocumented: isDocumented(start),
          names,
        };
        // The first overload with a comment documents all.
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

/** The types and base classes in the part of a declaration that its user sees. */
function namesIn(declaration) {
  const names = new Set();
  walk(declaration);
  return [...names];

  function walk(node) {
    if (Array.isArray(node)) return node.forEach(walk);
    if (typeof node?.type !== "string" || isPrivate(node)) return;
    const named = node.typeName ?? node.exprName ?? node.superClass ?? node.expression;
    if (named?.type === "Identifier") names.add(named.name);
    for (const [key, value] of Object.entries(node)) if (isSeen(node, key)) walk(value);
  }
}

function isPrivate({ accessibility, key }) {
  return accessibility === "private" || key?.type === "PrivateIdentifier";
}

/** Bodies are not seen, nor are values of declarations with an explicit type. */
function isSeen({ type, id, typeAnnotation }, key) {
  if (key === "body") return !/Function|Arrow/.test(type);
  if (key === "init") return !id?.typeAnnotation;
  if (key === "value") return type !== "PropertyDefinition" || !typeAnnotation;
  return true;
}
