import { existsSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";

/**
 * The faults of a package as it is published.
 * @param folder its folder in the workspace, @param manifest its package.json there,
 * @param packed the one in the tarball,
 * @param files the tarball's files, @param unpacked the folder that contains them
 */
export function findFaults({ folder, manifest, packed, files, unpacked }) {
  const targets = [packed.exports, packed.imports, packed.bin].flatMap(leaves);
  const { reached, specifiers } = follow(targets, unpacked);
  const dependencies = {
    ...packed.dependencies,
    ...packed.peerDependencies,
    ...packed.optionalDependencies,
  };
  const isKnown = (name) => name in dependencies || name === packed.name || /^(node:|#)/.test(name);

  const faults = [];
  const expect = (list, isRight, says) =>
    faults.push(...list.filter((each) => !isRight(each)).map(says));
  expect(
    ["LICENSE", "README.md", "CHANGELOG.md"],
    (file) => files.includes(file),
    (file) => `${file} is not packed`,
  );
  expect(
    ["description", "homepage", "bugs", "repository", "license"],
    (member) => packed[member],
    (member) => `package.json has no ${member}`,
  );
  expect(
    ["keywords"],
    (member) => packed[member]?.length > 0,
    (member) => `package.json has no ${member}`,
  );
  expect(
    [packed.repository?.directory].filter((directory) => directory !== undefined),
    (directory) => directory === folder,
    (directory) => `package.json says that it lies in ${directory}, and it lies in ${folder}`,
  );
  expect(
    Object.keys(manifest.exports),
    (subpath) => subpath in packed.exports,
    (subpath) => `"${subpath}" is in exports and not in publishConfig.exports`,
  );
  expect(
    targets,
    (target) => !target.endsWith(".ts") || target.endsWith(".d.ts"),
    (target) => `${target} is a source: publishConfig has nothing in its place`,
  );
  expect(
    Object.entries(dependencies),
    ([, version]) => !version.startsWith("workspace:"),
    ([name, version]) => `the version of ${name} is still ${version}`,
  );
  expect(
    files.filter((file) => file.endsWith(".js") && !isEmptyModule(join(unpacked, file))),
    (file) => reached.has(file) || isOfPage(file, files),
    (file) => `${file} is packed, and nothing imports it`,
  );
  expect(
    [...specifiers].map(packageOf),
    isKnown,
    (name) => `${name} is imported, and is no dependency`,
  );
  return faults;
}

/** A browser loads it, with the page beside it. */
function isOfPage(file, files) {
  return files.includes(posix.join(posix.dirname(file), "index.html"));
}

/** All strings in a (nested) value of exports, imports or bin. */
export function leaves(value) {
  if (typeof value === "string") return [value];
  return Object.values(value ?? {}).flatMap(leaves);
}

/** Every file that these reach by relative imports, and their other imports. */
function follow(targets, folder) {
  const reached = new Set();
  const specifiers = new Set();
  const queue = targets.map((target) => posix.normalize(target));
  for (const file of queue) {
    if (reached.has(file) || !existsSync(join(folder, file))) continue;
    reached.add(file);
    for (const specifier of importsOf(join(folder, file))) {
      if (specifier.startsWith(".")) queue.push(posix.join(posix.dirname(file), specifier));
      else specifiers.add(specifier);
    }
    if (file.endsWith(".js")) queue.push(file.replace(/\.js$/, ".d.ts"));
  }
  return { reached, specifiers };
}

/** The compiled form of a source that contains only types. */
function isEmptyModule(file) {
  return (
    existsSync(file) && /^export \{\s*\};\s*(?:\/\/[^\n]*\s*)?$/.test(readFileSync(file, "utf8"))
  );
}

const importForms = [
  // A file that is started by its URL has the extension of the file that starts it.
  /\bnew URL\(\s*[`"'](\.[^`"'$]+)\$\{import\.meta\.url\.slice\(-3\)\}/g,
  /^(?:import|export)\b[^;"'=()]*\bfrom\s*["']([^"']+)["']/gm,
  /^import\s*["']([^"']+)["']/gm,
  /\bimport\(\s*["']([^"']+)["']\s*\)/g,
];

function importsOf(file) {
  const text = readFileSync(file, "utf8");
  return importForms.flatMap((form) =>
    [...text.matchAll(form)].map(([whole, specifier]) =>
      whole.startsWith("new URL") ? `${specifier}.js` : specifier,
    ),
  );
}

function packageOf(specifier) {
  return specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
}
