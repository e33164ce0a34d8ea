// `npm run sbom`: the software bill of materials (CycloneDX) of everything that the published npm
// packages install, read only from the lock file. `npm run sbom -- <file>` names the file.
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { run } from "./command.mjs";
import { packages, root } from "./workspace.mjs";

const DEFAULT_FILE = "sbom.cdx.json";

/** Writes the bill of materials, checks it, and returns the number of components. */
export function writeSbom(file) {
  const published = packages().filter(({ manifest }) => !manifest.private);
  run("pnpm", [
    "sbom",
    ...published.map(({ name }) => `--filter=${name}`),
    "--prod",
    "--lockfile-only",
    "--sbom-format=cyclonedx",
    "--sbom-spec-version=1.6",
    `--out=${file}`,
  ]);
  const { components } = JSON.parse(readFileSync(file, "utf8"));
  const faults = faultsOf(components);
  if (faults.length > 0)
    throw new Error(`The bill of materials is incomplete:\n${faults.join("\n")}`);
  return components.length;
}

/** The faults that keep components from being checked against a registry or an advisory. */
export function faultsOf(components) {
  return components.flatMap((component) => {
    const { group, name, version, purl = "", hashes = [], externalReferences = [] } = component;
    const full = group === undefined ? name : `${group}/${name}`;
    // Our own packages have no hash before they are packed.
    if (full.startsWith("@waybill/") || full === "waybill") return [];
    const hashed = [
      ...hashes,
      ...externalReferences.flatMap((reference) => reference.hashes ?? []),
    ];
    return [
      ...(version ? [] : [`  ${full} has no version`]),
      ...(purl.startsWith("pkg:npm/") ? [] : [`  ${full} has no package URL`]),
      ...(hashed.some(({ alg }) => alg === "SHA-512") ? [] : [`  ${full} has no SHA-512`]),
    ];
  });
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const file = resolve(process.argv[2] ?? join(root, DEFAULT_FILE));
  const count = writeSbom(file);
  console.log(`${file}: ${count} components, CycloneDX 1.6, each with its version and SHA-512.`);
}
