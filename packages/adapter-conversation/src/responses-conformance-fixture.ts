import type { AdapterFixture } from "@waybill/conformance";
import { openaiFixture } from "./openai-fixture.ts";

export const fixture: AdapterFixture = openaiFixture("responses", new URL(import.meta.url), {
  "serve: code in the framework has the history whole":
    "an item of the responses API has no name and takes no members that it does not know; the name is said in the words, and tools are given the whole",
});
