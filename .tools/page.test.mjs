import assert from "node:assert/strict";
import test from "node:test";
import { beginningOf, installationsOf } from "./page.mjs";

const block = (language, ...lines) => `\`\`\`${language}\n${lines.join("\n")}\n\`\`\`\n`;
const install = block("sh", "npm install a \\", "  b   # Node 22", "waybill dev");
const code = block("ts", "one();");

test("a page begins with its install command, its first code, and the output of that", () => {
  const page = `# A\n\n${install}\n${code}\n<!-- /example -->\n\n${block("text", "1")}\n${block("ts", "two();")}`;
  const expected = { install: ["npm install a b"], code: "one();\n", says: "1\n" };
  assert.deepEqual(beginningOf(page, "ts"), expected);
});

test("a later text block is not the output of the first code", () => {
  const page = `${install}\n${code}\nMore.\n\n${block("text", "1")}`;
  assert.deepEqual(beginningOf(page, "ts"), { install: ["npm install a b"], code: "one();\n" });
});

test("a page without code still needs an install command", () => {
  assert.deepEqual(beginningOf(block("sh", "pip install a"), "ts"), { install: ["pip install a"] });
  assert.throws(() => beginningOf("# A\n", "ts"), /does not say how/);
});

test("code before its install command is a fault", () => {
  assert.throws(() => beginningOf(`${code}\n${install}`, "ts"), /stands before/);
});

test("a page may install more further down, each with code below it", () => {
  const more = block("sh", "pip install c   # another");
  const page = `${install}\n${code}\n${block("ts", "two();")}\n${more}\n${block("ts", "three();")}`;
  assert.deepEqual(installationsOf(page, "ts"), [
    { install: ["npm install a b"], code: "one();\n" },
    { install: ["pip install c"], code: "three();\n" },
  ]);
  assert.throws(() => installationsOf(`${install}\n${more}\n${code}`, "ts"), /No code follows npm/);
});
