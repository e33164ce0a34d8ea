import type { AdapterFixture } from "@waybill/conformance";
import { openaiFixture } from "./openai-fixture.ts";

export const fixture: AdapterFixture = openaiFixture("responses", new URL(import.meta.url), {
  "serve: an image in the messages that a run has added comes back whole":
    "only the text of a model's output is added, not images that its provider generates; tools return theirs as files",
  "serve: code in the framework gets the complete history":
    "an item of the responses API has no name and takes no members that it does not know; the name is said in the words, and tools are given the whole",
});
