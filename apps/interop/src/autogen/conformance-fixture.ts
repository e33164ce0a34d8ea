import type { AdapterFixture } from "@waybill/conformance";
import { pythonPeer } from "../python-peer.ts";

/** Teams of AutoGen, in Python: one that plays is served; a remote member, and a core agent, call. */
export const fixture: AdapterFixture = {
  adapter: "autogen",
  module: new URL(import.meta.url),
  peer: pythonPeer("autogen"),
  hasNoRoles: true,
  gaps: {
    "serve: handoffs of one session share a conversation":
      "the Python package keeps no conversations yet",
    "serve: two sessions share nothing":
      "the Python package keeps no conversations yet, and does not say that one has begun",
    "serve: the same session of another delegator opens nothing":
      "the Python package keeps no conversations yet, and does not say that one has begun",
    "serve: handoffs of one session run one after the other":
      "the Python package keeps no conversations yet",
    "serve: a turn that is tried again is in its conversation once":
      "the Python package keeps no conversations yet",
    "serve: artifacts arrive byte for byte":
      "a message of AgentChat has no files, and no other place is in its conversation",
    "serve: the artifacts that a run has made come back byte for byte":
      "a message of AgentChat has no files, and no other place is in its conversation",
    "serve: a run that stops itself ends as 499":
      "a team of AutoGen waits for ever for a member that cancels itself: the deadline ends the handoff",
    "serve: every attempt runs under the same name, which is the handoff's id":
      "a team of AutoGen tells of a member's failure in words, and that it may be tried again is lost",
    "call: the tokens that the remote agent has used are counted by the framework":
      "a message of AutoGen's core has no usage; what a RemoteAgent says has it in models_usage",
    "call: artifacts go out byte for byte":
      "a message of AutoGen has no files, and neither has a message of its core",
    "call: the artifacts of a result come back into the framework byte for byte":
      "a message of AutoGen has no files, and neither has a message of its core",
  },
};
