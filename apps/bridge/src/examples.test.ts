/// <reference types="node" />
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

/** What the snippets in the project's README say once they are run. */
const SAYS: Readonly<Record<string, string>> = {
  langgraph: "{ topic: 'waybills', facts: 'waybills have been known since 1820' }",
  openai: "Take an umbrella.",
  "openai-agents": "You get your 40 euros back.",
  crew: "It rains in Bergen.",
  mastra: "In Nynorsk: Det regnar.",
};

for (const [name, says] of Object.entries(SAYS)) {
  test(`${name}: what is served in a few lines is called in a few lines`, () => {
    const example = fileURLToPath(new URL(`../examples/${name}.ts`, import.meta.url));
    // As a user has it: under "test" the SDK of OpenAI traces nothing.
    const env = { ...process.env, NODE_ENV: "production" };
    expect(execFileSync(process.execPath, [example], { encoding: "utf8", env })).toBe(`${says}\n`);
  });
}
