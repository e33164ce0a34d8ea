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

test("the commands of a story are taken in order", () => {
  assert.deepEqual(typedIn(text), ["one --two", "three", "five"]);
});

test("the code of a page is that of its sections", () => {
  const block = (code) => `\`\`\`sh\n${code}\n\`\`\`\n`;
  const page = `# Page\n\n## 1. One\n${block("a")}and\n${block("b\nc")}\n## 2. Two\n`;
  assert.deepEqual(sectionsOf(page), [[], ["a\n", "b\nc\n"], []]);
});

test("a story that starts differently is refused, and its processes are ended", async () => {
  const story = liveThrough({ story: text, agent: "", cwd: tmpdir(), env: process.env });
  await assert.rejects(story, /goes on in another way/);
});

test("a shell continues after the previous line, and a program that ends reports its output", async (t) => {
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
