/// <reference types="node" />
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

/** The output of the snippets in the project's README. */
const SAYS: Readonly<Record<string, string>> = {
  langgraph: "{ topic: 'waybills', facts: 'waybills have been known since 1820' }",
  openai: "Take an umbrella.",
  "openai-agents": "You get your 40 euros back.",
  crew: "It rains in Bergen.",
  mastra: "In Nynorsk: Det regnar.",
};

for (const [name, says] of Object.entries(SAYS)) {
  test(`${name}: a few lines serve, and a few lines call`, () => {
    const example = fileURLToPath(new URL(`../examples/${name}.ts`, import.meta.url));
    // As for a user: under "test" OpenAI's SDK traces nothing.
    const env = { ...process.env, NODE_ENV: "production" };
    expect(execFileSync(process.execPath, [example], { encoding: "utf8", env })).toBe(`${says}\n`);
  });
}
