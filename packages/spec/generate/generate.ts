import * as fs from "node:fs";
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import { lifecyclePage } from "./lifecycle-page.ts";
import { schemas } from "./schemas.ts";
import { statusPage } from "./status-page.ts";
import { VECTOR_FILES } from "./vectors/all.ts";

const SPEC = fileURLToPath(new URL("../", import.meta.url));
/** Folders that contain only generated files; the README beside the vectors is written by hand. */
const OWN_FOLDERS = ["schemas", "vectors"];
const BY_HAND = path.join("vectors", "README.md");

/** Every generated file, by its path in the package. */
export function generated(): Map<string, string> {
  const files = new Map([
    ["status.md", statusPage()],
    ["lifecycle.md", lifecyclePage()],
  ]);
  for (const [name, schema] of schemas()) files.set(path.join("schemas", name), written(schema));
  for (const { name, about, cases } of VECTOR_FILES) {
    files.set(path.join("vectors", `${name}.json`), written({ waybill: 1, about, cases }));
  }
  return files;
}

/** Committed files that differ from the generated ones: changed, missing or left over. */
export function staleFiles(files: ReadonlyMap<string, string> = generated()): string[] {
  const stale = [...files]
    .filter(([name, text]) => text !== readIfThere(name))
    .map(([name]) => name);
  return [...stale, ...leftOver(files)].toSorted();
}

/** How many cases refer to each rule, in the order of the specification. */
export function casesByRule(): Map<string, number> {
  const text = fs.readFileSync(path.join(SPEC, "specification.md"), "utf8");
  const counts = new Map(Array.from(text.matchAll(/\*\*(WB-\d+)\*\*/g), ([, rule]) => [rule!, 0]));
  for (const { name, cases } of VECTOR_FILES) {
    for (const { id, rule } of cases) {
      for (const each of rule) {
        const count = counts.get(each);
        if (count === undefined)
          throw new Error(`${id} of ${name} names ${each}, which there is not`);
        counts.set(each, count + 1);
      }
    }
  }
  return counts;
}

function written(value: unknown): string {
  return `${JSON.stringify(value, undefined, 1)}\n`;
}

function readIfThere(name: string): string | undefined {
  const file = path.join(SPEC, name);
  return fs.existsSync(file) ? fs.readFileSync(file, "utf8") : undefined;
}

function leftOver(files: ReadonlyMap<string, string>): string[] {
  return OWN_FOLDERS.flatMap((folder) =>
    fs.readdirSync(path.join(SPEC, folder)).map((name) => path.join(folder, name)),
  ).filter((name) => name !== BY_HAND && !files.has(name));
}

function report(files: ReadonlyMap<string, string>): void {
  for (const { name, cases } of VECTOR_FILES) {
    const bytes = files.get(path.join("vectors", `${name}.json`))!.length;
    console.log(
      `${name.padEnd(14)} ${String(cases.length).padStart(4)} cases  ${String(bytes).padStart(7)} characters`,
    );
  }
  const total = VECTOR_FILES.reduce((sum, { cases }) => sum + cases.length, 0);
  console.log(`${total} cases`);
  const counts = [...casesByRule()];
  console.log(counts.map(([rule, count]) => `${rule} ${count}`).join(", "));
  const without = counts.filter(([, count]) => count === 0).map(([rule]) => rule);
  if (without.length > 0) console.log(`Without a case: ${without.join(", ")}`);
}

function main(isCheck: boolean): void {
  const files = generated();
  const stale = staleFiles(files);
  if (isCheck) {
    for (const name of stale)
      console.error(`${name} is not what the code generates; run node generate/generate.ts`);
    process.exitCode = stale.length > 0 ? 1 : 0;
    return;
  }
  for (const name of leftOver(files)) fs.rmSync(path.join(SPEC, name));
  for (const [name, text] of files) {
    const file = path.join(SPEC, name);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, text);
  }
  report(files);
}

if (import.meta.main) main(process.argv.includes("--check"));
