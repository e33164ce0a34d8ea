import fc from "fast-check";
import { expect, test } from "vitest";
import { isAgentId } from "./agent-id.ts";

test.each(["research-agent-001", "a", "7", "a.b_c-d", "a..b", "x".repeat(128)])(
  "%s is an agent id",
  (id) => {
    expect(isAgentId(id)).toBe(true);
  },
);

test.each([
  ["upper case", "Research-agent-001"],
  ["a Cyrillic a", "rese\u0430rch-agent-001"],
  ["a full-width digit", "research-agent-00\uff11"],
  ["a dotless i", "ed\u0131tor"],
  ["a composed letter", "caf\u00e9"],
  ["a zero-width space", "edi\u200btor"],
  ["a soft hyphen", "edi\u00adtor"],
  ["a Unicode hyphen", "research\u2010agent"],
  ["a dot at the end", "editor."],
  ["a hyphen at the start", "-editor"],
  ["an underscore at the start", "__proto__"],
  ["a space", "edi tor"],
  ["a line break at the end", "editor\n"],
  ["a slash", "a/b"],
  ["nothing in it", ""],
  ["129 characters", "x".repeat(129)],
  ["a number instead of a string", 7],
])("an id with %s is refused", (_what, id) => {
  expect(isAgentId(id)).toBe(false);
});

test("no two ids become equal by folding case or compatibility forms", () => {
  const fold = (id: string) => id.normalize("NFKC").toLowerCase();
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 20 }), (text) => {
      if (isAgentId(text)) expect(fold(text)).toBe(text);
      else if (isAgentId(fold(text))) expect(fold(text)).not.toBe(text);
    }),
    { examples: [["EDITOR"], ["\uff45ditor"], ["editor"]] },
  );
});
