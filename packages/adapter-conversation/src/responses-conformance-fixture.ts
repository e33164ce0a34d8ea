import type { AdapterFixture } from "@waybill/conformance";
import { openaiFixture } from "./openai-fixture.ts";

export const fixture: AdapterFixture = openaiFixture("responses", new URL(import.meta.url), {
  "serve: a history arrives whole, with its roles, names and tool calls":
    "an item of the responses API has no name and takes no members that it does not know; the name is said in the words, and tools are given the whole",
});
