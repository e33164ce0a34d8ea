import type { AdapterFixture } from "@waybill/conformance";
import { openaiFixture } from "./openai-fixture.ts";

export const fixture: AdapterFixture = openaiFixture("chat", new URL(import.meta.url), {
  "serve: a history arrives whole, with its roles, names and tool calls":
    "a message of the chat completions API takes no members that it does not know; roles, names and tool calls arrive, and tools are given the whole",
});
