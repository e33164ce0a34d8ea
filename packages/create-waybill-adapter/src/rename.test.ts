import { expect, test } from "vitest";
import { isFrameworkName, renamed, renamedPage } from "./rename.ts";

test.for([
  ["src/to-echo.ts", "src/to-my-frame.ts"],
  ['import { Echo } from "./echo.ts";', 'import { MyFrame } from "./my-frame.ts";'],
  ["serveEcho(echo: Echo, …)", "serveMyFrame(myFrame: MyFrame, …)"],
  ['adapter: "echo",', 'adapter: "my-frame",'],
  ["npm install @waybill/adapter-echo", "npm install waybill-adapter-my-frame"],
  ["class EchoLimitError", "class MyFrameLimitError"],
])("%s becomes %s", ([before, after]) => {
  expect(renamed(before!, "my-frame")).toBe(after);
});

test("on a page, only code has identifiers", () => {
  const page = [
    "# A framework called echo",
    "```sh",
    "npm create waybill-adapter echo",
    "```",
    "echo has `src/echo.ts`, and `@waybill/adapter-echo` has Echo.",
    "```ts",
    'import { echo } from "./echo.ts";',
    "```",
  ].join("\n");
  expect(renamedPage(page, "my-frame").split("\n")).toEqual([
    "# A framework called my-frame",
    "```sh",
    "npm create waybill-adapter my-frame",
    "```",
    "my-frame has `src/my-frame.ts`, and `waybill-adapter-my-frame` has MyFrame.",
    "```ts",
    'import { myFrame } from "./my-frame.ts";',
    "```",
  ]);
});

test("a framework's name must be valid in a package name", () => {
  expect(["acme", "my-frame", "a2a", "x"].filter(isFrameworkName).length).toBe(4);
  const others = ["Acme", "my_frame", "-x", "x-", "a--b", "2x", "", "../x", "a".repeat(41)];
  expect(others.filter(isFrameworkName)).toEqual([]);
});
