import type { AdapterFixture } from "@waybill/conformance";
import { openaiFixture } from "./openai-fixture.ts";

export const fixture: AdapterFixture = openaiFixture("responses", new URL(import.meta.url), {
  "serve: an image in the messages that a run has added comes back whole":
    "what a model says is taken over in words, and images that its host makes are not; tools bring theirs as files",
  "serve: code in the framework gets the complete history":
    "an item of the responses API has no name and takes no members that it does not know; the name is said in the words, and tools are given the whole",
});
