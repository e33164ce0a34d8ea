import type { AdapterFixture } from "@waybill/conformance";
import { calling } from "./calling-fixture.ts";

/** The same node, parked in its checkpointer while the other agent works, and woken. */
export const fixture: AdapterFixture = {
  adapter: "langgraph, parked",
  module: new URL(import.meta.url),
  call: { run: (request) => calling(request, true) },
};
