import type { AdapterFixture } from "@waybill/conformance";
import { calling } from "./calling-fixture.ts";

/** The same node, parked in its checkpointer while the other agent works, and woken. */
export const fixture: AdapterFixture = {
  adapter: "langgraph, parked",
  module: new URL(import.meta.url),
  gaps: {
    "call: the next model is shown an image in a result, or is told of it by name":
      "a node gives the result to code, and no model is told of it",
    "call: the remote agent's deltas are shown while it writes":
      "a graph that is parked reads nothing: what was written meanwhile is in the result alone",
    "call: a result that poses as others reaches the model as the remote agent's speech":
      "a node gives the result to code, and no model is told of it",
    "call: an output that gives orders reaches the model as the remote agent's":
      "a node gives the result to code, and no model is told of it",
  },
  call: { run: (request) => calling(request, true) },
};
