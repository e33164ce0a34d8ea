import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { Program, Shell } from "./programs.mjs";
import { liveThrough, sectionsOf, typedIn } from "./story.mjs";

const text = `# Story

\`\`\`text
$ one --two
said: $ 5

$ three
\`\`\`

\`\`\`sh
$ four
\`\`\`

\`\`\`text
$ five
\`\`\`
`;

test("what is typed in a story is its commands, in their order", () => {
  assert.deepEqual(typedIn(text), ["one --two", "three", "five"]);
});

test("a page is the code of its sections", () => {
  const block = (code) => `\`\`\`sh\n${code}\n\`\`\`\n`;
  const page = `# Page\n\n## 1. One\n${block("a")}and\n${block("b\nc")}\n## 2. Two\n`;
  assert.deepEqual(sectionsOf(page), [[], ["a\n", "b\nc\n"], []]);
});

test("a story that begins in another way is told apart, and what it started is ended", async () => {
  const story = liveThrough({ story: text, agent: "", cwd: tmpdir(), env: process.env });
  await assert.rejects(story, /goes on in another way/);
});

test("a shell goes on where the line before has ended, and a program that ends says what it said", async (t) => {
  const cwd = mkdtempSync(join(tmpdir(), "story-"));
  t.after(() => rmSync(cwd, { recursive: true }));
  const shell = new Shell("exec sh -eu", { cwd });
  await shell.types("A=1");
  assert.match(await shell.types('echo "is $A"'), /^is 1$/m);
  await assert.rejects(shell.types("echo gone; exit 3"), /did not say[\s\S]*gone/);
  assert.equal(await shell.ended, 3);
  const sleeping = new Program("exec sleep 60", { cwd });
  assert.equal(await sleeping.ends("SIGTERM"), "SIGTERM");
});
