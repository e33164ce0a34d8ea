import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { follow, stepsOf } from "./guide.mjs";

const guide = `# Guide

\`\`\`sh
mkdir inner
cd inner
\`\`\`

\`\`\`ts
// src/one.ts
export const one = 1;
\`\`\`

\`\`\`ts
const shown = "and not written";
\`\`\`

\`\`\`sh
cat src/one.ts
\`\`\`
`;

test("a guide is a sequence of commands and files", (t) => {
  const cwd = mkdtempSync(join(tmpdir(), "guide-"));
  t.after(() => rmSync(cwd, { recursive: true, force: true }));
  assert.deepEqual(stepsOf(guide), [
    { command: "mkdir inner" },
    { command: "cd inner" },
    { file: "src/one.ts", content: "export const one = 1;\n" },
    { command: "cat src/one.ts" },
  ]);
  assert.equal(follow(stepsOf(guide), { cwd, env: process.env }), "\nexport const one = 1;\n");
});

test("a failed command ends it, with the command's output", () => {
  assert.throws(
    () => follow([{ command: "echo so; echo not so >&2; exit 3" }], { cwd: ".", env: process.env }),
    /exit 3` failed:\nso\n\nnot so/,
  );
});
