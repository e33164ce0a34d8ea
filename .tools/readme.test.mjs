import assert from "node:assert/strict";
import test from "node:test";
import { withExamples } from "./readme.mjs";

const files = {
  "one.ts": `import "x";

// #region serve
serve();
// #endregion
{
  // #region call
  call({
    a: 1,
  });
  // #endregion
}
`,
  "two.py": `def main():
    # #region serve
    serve()
    # #endregion
`,
};
const filled = (mark) =>
  withExamples(`<!-- example: ${mark} -->\nold\n<!-- /example -->`, (path) => files[path]);
const marked = (mark, language, code) =>
  `<!-- example: ${mark} -->\n\n\`\`\`${language}\n${code}\n\`\`\`\n\n<!-- /example -->`;

test("a whole example is inserted without its region marks", () => {
  const whole = files["one.ts"].replaceAll(/^ *\/\/ #.*\n/gm, "").trimEnd();
  assert.equal(filled("one.ts"), marked("one.ts", "ts", whole));
});

test("a region is inserted by its name, without indentation, in any language", () => {
  assert.equal(filled("one.ts#serve"), marked("one.ts#serve", "ts", "serve();"));
  assert.equal(filled("one.ts#call"), marked("one.ts#call", "ts", "call({\n  a: 1,\n});"));
  assert.equal(filled("two.py#serve"), marked("two.py#serve", "py", "serve()"));
});

test("a missing region is an error, and not an empty example", () => {
  assert.throws(() => filled("one.ts#other"), /one\.ts has no region other/);
});
