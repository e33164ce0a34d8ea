import assert from "node:assert/strict";
import test from "node:test";
import { lasting, leftOnScreen, outputsIn, withOutput } from "./shown.mjs";

const text = `# Page

\`\`\`text
$ one
says one
twice

$ two
says two
\`\`\`

\`\`\`text
$ three
\`\`\`
`;

test("the output of a command is the text below it", () => {
  assert.deepEqual(outputsIn(text), [
    { command: "one", output: "says one\ntwice" },
    { command: "two", output: "says two" },
    { command: "three", output: "" },
  ]);
});

test("new output replaces it, and nothing else changes", () => {
  const changed = withOutput(withOutput(text, "one", "is new"), "two", "is new too");
  assert.deepEqual(
    outputsIn(changed).map(({ output }) => output),
    ["is new", "is new too", ""],
  );
  const same = withOutput(withOutput(changed, "one", "says one\ntwice"), "two", "says two");
  assert.equal(same, text);
});

test("a status line is removed by later output", () => {
  assert.equal(leftOnScreen("\r\u001b[K1 s so far\r\u001b[K\u001b[Kdone\r\n^C"), "\u001b[Kdone");
});

test("times, ids, keys and widths are ignored, words and counts are kept", () => {
  const of = (id, time, key) =>
    `Job ${id}\n   +${time}  anna  accepts   ✔ ${key} ✔ receipt\n3 handoffs`;
  const one = of("01a1ef26-d530-7b00-8ead-1c191d411083", "226 ms", "qPDtc3um");
  const other = of("01a1ef27-058b-72b3-b6d7-fef17e089904", "1.2 s", "TWaM9Hf-");
  assert.equal(lasting(one), lasting(other));
  assert.notEqual(lasting(one), lasting(one.replace("accepts", "rejects")));
  assert.notEqual(lasting(one), lasting(one.replace("3 handoffs", "4 handoffs")));
});
