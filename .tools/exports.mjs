// Lists the exports of the packages that nobody needs: `node .tools/exports.mjs`. An export is needed
// if another package, an app or an example imports it, if a page of its package names it, or if the
// signature of a needed export mentions it. `npm run check unused` fails on any other.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { parseSync } from "rolldown/utils";
import { Reader, sourcesOf } from "./modules.mjs";
import { packages, root } from "./workspace.mjs";

/** For each public entry point of each package: the number of its exports, and the unneeded ones. */
export function surveyNeeds({ all = packages(), files = committed(), read = readText } = {}) {
  const reader = new Reader(all, (path) => read(relative(root, path)));
  const imports = files.flatMap((file) => importsOf(file, read(file)));
  return all
    .filter(({ manifest }) => !manifest.private)
    .flatMap((each) => needsOf(each, { reader, imports, pages: pagesOf(each, files, read) }));
}

/** For `npm run check`: throws if an export is not needed. */
export function checkExports() {
  const found = surveyNeeds();
  const faults = found.flatMap(({ entry, unneeded }) =>
    unneeded.map(({ name, file, line }) => `${entry}: ${name} (${relative(root, file)}:${line})`),
  );
  if (faults.length > 0) {
    throw new Error(
      `No other package and no example imports these exports, and no page of their package names them.\n` +
        `Stop exporting them, or document them:\n${faults.join("\n")}`,
    );
  }
  const count = found.reduce((sum, { exported }) => sum + exported, 0);
  return `${count} exports of ${found.length} entry points`;
}

function needsOf({ name, folder, manifest }, { reader, imports, pages }) {
  const entries = sourcesOf(manifest).map(([subpath, path]) => ({
    entry: name + subpath.slice(1),
    symbols: reader.exportsOf(join(root, folder, path)),
  }));
  const isOutside = (file) =>
    !file.startsWith(`${folder}/`) || file.startsWith(`${folder}/examples/`);
  const used = new Set(
    imports
      .filter(({ file }) => isOutside(file))
      .map(({ from, imported }) => `${from} ${imported}`),
  );
  const needed = new Set();
  for (const { entry, symbols } of entries)
    for (const [exported, symbol] of symbols)
      if (used.has(`${entry} ${exported}`) || pages.has(exported))
        addWithNamed(symbol, needed, reader);
  return entries.map(({ entry, symbols }) => ({
    entry,
    exported: symbols.size,
    unneeded: [...symbols]
      .filter(([, symbol]) => !needed.has(keyOf(symbol)))
      .map(([exported, symbol]) => ({ ...symbol, name: exported })),
  }));
}

const keyOf = ({ file, name }) => `${file} ${name}`;

function addWithNamed(symbol, needed, reader) {
  if (needed.has(keyOf(symbol))) return;
  needed.add(keyOf(symbol));
  for (const named of reader.namedBy(symbol)) addWithNamed(named, needed, reader);
}

/**
 * What a file imports from packages of the workspace. Of a namespace it imports every member that it
 * names.
 */
function importsOf(file, text) {
  if (!/\.m?ts$|\.mjs$/.test(file) || !text.includes("waybill")) return [];
  const { program } = parseSync(file, text);
  const members = () => Array.from(text.matchAll(/\.(\w+)/g), ([, member]) => member);
  const found = program.body
    .filter(({ source }) => source?.value !== undefined && !source.value.startsWith("."))
    .flatMap(({ source, specifiers = [] }) =>
      specifiers.flatMap(({ type, imported, local }) =>
        (type === "ImportNamespaceSpecifier" ? members() : [(imported ?? local).name]).map(
          (name) => ({ file, from: source.value, imported: name }),
        ),
      ),
    );
  for (const [, from] of text.matchAll(/\bimport\(\s*"((?:@waybill\/|waybill)[^"]*)"/g))
    found.push(...members().map((name) => ({ file, from, imported: name })));
  return found;
}

/** Every word in code on the pages of a package. */
function pagesOf({ folder }, files, read) {
  const texts = files
    .filter((file) => file.startsWith(`${folder}/`) && /(?<!CHANGELOG)\.md$/.test(file))
    .map(read);
  const code = texts.flatMap((text) => text.match(/^```\w*\n[\s\S]*?^```|`[^`\n]+`/gm) ?? []);
  return new Set(code.flatMap((each) => each.match(/\w+/g) ?? []));
}

function committed() {
  const listed = execFileSync("git", ["ls-files", "*.ts", "*.mts", "*.mjs", "*.md"], {
    cwd: root,
    encoding: "utf8",
  });
  return listed
    .trim()
    .split("\n")
    .filter((file) => existsSync(join(root, file)));
}

function readText(file) {
  return readFileSync(join(root, file), "utf8");
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  for (const { entry, exported, unneeded } of surveyNeeds()) {
    console.log(`${entry}: ${unneeded.length} of ${exported} exports are needed by nobody`);
    for (const { name, file, line } of unneeded)
      console.log(`  ${name} (${relative(root, file)}:${line})`);
  }
}
