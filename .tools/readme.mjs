// Copies the code of real example files into the READMEs, so that readers copy code that runs.
// `node .tools/readme.mjs` writes, `--check` only compares and names what is stale.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const EXAMPLE = /(<!-- example: ([^\s#]+)(?:#(\S+))? -->\n)[\s\S]*?(<!-- \/example -->)/g;
const MARK = /^[ \t]*(?:\/\/|#) #(?:region \S+|endregion)\n/gm;

/** The text with the current code of the files between its example marks: a whole file, or a region. */
export function withExamples(text, readExample) {
  return text.replace(EXAMPLE, (_, start, path, region, end) => {
    const language = path.slice(path.lastIndexOf(".") + 1);
    const whole = readExample(path);
    const code = region === undefined ? whole : regionOf(whole, region, path);
    return `${start}\n\`\`\`${language}\n${code.replaceAll(MARK, "").trimEnd()}\n\`\`\`\n\n${end}`;
  });
}

/** The text between `// #region name` and the next `// #endregion`, or the same after `#`. */
function regionOf(code, name, path) {
  const [, after] = code.split(new RegExp(`^[ \\t]*(?://|#) #region ${name}\\n`, "m"));
  if (after === undefined) throw new Error(`${path} has no region ${name}.`);
  const lines = after.split(/^[ \t]*(?:\/\/|#) #endregion$/m)[0].split("\n");
  const indents = lines.filter((line) => line.trim() !== "").map((line) => line.search(/\S/));
  return lines.map((line) => line.slice(Math.min(...indents))).join("\n");
}

function main(isCheck) {
  const files = execFileSync("git", ["ls-files", "*.md"], { encoding: "utf8" }).trim().split("\n");
  const stale = files.filter((file) => {
    const before = readFileSync(file, "utf8");
    const after = withExamples(before, (path) => readFileSync(path, "utf8"));
    if (before !== after && !isCheck) writeFileSync(file, after);
    return before !== after;
  });
  for (const file of stale) console.log(`${isCheck ? "stale" : "written"}: ${file}`);
  if (isCheck && stale.length > 0) {
    console.log(
      "The examples in these files differ from the files they come from; run: pnpm readme",
    );
    process.exitCode = 1;
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href)
  main(process.argv.includes("--check"));
