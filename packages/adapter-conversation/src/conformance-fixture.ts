import type { AdapterFixture } from "@waybill/conformance";
import { openaiFixture } from "./openai-fixture.ts";

export const fixture: AdapterFixture = openaiFixture("chat", new URL(import.meta.url), {
  "serve: an image in the messages that a run has added comes back whole":
    "what a model says is taken over in words, and images that its host makes are not; tools bring theirs as files",
  "serve: code in the framework gets the complete history":
    "a message of the chat completions API takes no members that it does not know; roles, names and tool calls arrive, and tools are given the whole",
});
