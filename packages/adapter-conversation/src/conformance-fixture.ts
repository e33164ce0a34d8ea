import type { AdapterFixture } from "@waybill/conformance";
import { openaiFixture } from "./openai-fixture.ts";

export const fixture: AdapterFixture = openaiFixture("chat", new URL(import.meta.url), {
  "serve: an image in the messages that a run has added comes back whole":
    "only the text of a model's output is added, not images that its provider generates; tools return theirs as files",
  "serve: code in the framework gets the complete history":
    "a message of the chat completions API can't hold unknown members; roles, names and tool calls arrive, and tools get the whole history",
});
