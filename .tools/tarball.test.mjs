import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import test from "node:test";
import { findFaults } from "./tarball.mjs";

const sound = {
  LICENSE: "",
  "README.md": "",
  "CHANGELOG.md": "",
  "dist/index.js":
    'import { a } from "./a.js";\nexport { b } from "zod";\nawait import("node:fs");\nexport { a };\n',
  "dist/index.d.ts": 'import type { A } from "./a.js";\n',
  "dist/a.js": "export const a = 'not imported';\n",
  "dist/a.d.ts": "export type A = 1;\n",
};
const packed = {
  name: "@waybill/x",
  description: "x",
  license: "Apache-2.0",
  keywords: ["x"],
  homepage: "https://example.com/x",
  bugs: "https://example.com/issues",
  repository: { type: "git", url: "git+https://example.com/x.git", directory: "packages/x" },
  exports: { ".": "./dist/index.js" },
  dependencies: { zod: "4.6.7" },
};
const manifest = { exports: { ".": "./src/index.ts" } };

function faultsWith({ contents = {}, ...changes }) {
  const all = { ...sound, ...contents };
  const files = Object.keys(all).filter((file) => all[file] !== undefined);
  const unpacked = mkdtempSync(join(tmpdir(), "waybill-tarball-"));
  for (const file of files) {
    mkdirSync(dirname(join(unpacked, file)), { recursive: true });
    writeFileSync(join(unpacked, file), all[file]);
  }
  return findFaults({ folder: "packages/x", manifest, packed, files, unpacked, ...changes });
}

test("a valid package has no faults", () => assert.deepEqual(faultsWith({}), []));

const faulty = [
  {
    what: "no licence",
    change: { contents: { LICENSE: undefined } },
    fault: "LICENSE is not packed",
  },
  {
    what: "no changelog",
    change: { contents: { "CHANGELOG.md": undefined } },
    fault: "CHANGELOG.md is not packed",
  },
  ...["homepage", "bugs", "repository", "description", "license"].map((member) => ({
    what: `no ${member}`,
    change: { packed: { ...packed, [member]: undefined } },
    fault: `package.json has no ${member}`,
  })),
  {
    what: "no keywords",
    change: { packed: { ...packed, keywords: [] } },
    fault: "package.json has no keywords",
  },
  {
    what: "the folder of another package",
    change: { folder: "packages/y" },
    fault: "package.json says that it lies in packages/x, and it lies in packages/y",
  },
  {
    what: "a subpath that publishConfig forgot",
    change: { manifest: { exports: { ".": "./src/index.ts", "./y": "./src/y.ts" } } },
    fault: '"./y" is in exports and not in publishConfig.exports',
  },
  {
    what: "a source that is exported",
    change: { packed: { ...packed, imports: { "#y": "./src/y.ts" } } },
    fault: "./src/y.ts is a source: publishConfig has nothing in its place",
  },
  {
    what: "a workspace dependency",
    change: { packed: { ...packed, dependencies: { zod: "workspace:*" } } },
    fault: "the version of zod is still workspace:*",
  },
  {
    what: "a test",
    change: { contents: { "dist/a.test.js": 'import { test } from "vitest";\n' } },
    fault: "dist/a.test.js is packed, and nothing imports it",
  },
  {
    what: "an import that nobody installs",
    change: { contents: { "dist/a.js": 'export {\n  a,\n} from "@scope/ajv/sub";\n' } },
    fault: "@scope/ajv is imported, and is no dependency",
  },
  {
    what: "a type from a package that nobody installs",
    change: { contents: { "dist/a.d.ts": 'export type A = import("ajv").Schema;\n' } },
    fault: "ajv is imported, and is no dependency",
  },
];
for (const { what, change, fault } of faulty) {
  test(`finds ${what}`, () => assert.deepEqual(faultsWith(change), [fault]));
}
