import type { AdapterFixture } from "@waybill/conformance";

/** What AutoGen can't do, with a team and without one. */
export const AUTOGEN_GAPS: AdapterFixture["gaps"] = {
  "serve: artifacts arrive byte for byte":
    "a message of AgentChat has no files, and no other place is in its conversation",
  "serve: a file that is too large for an envelope arrives byte for byte":
    "a message of AgentChat has no files, and no other place is in its conversation",
  "serve: the artifacts that a run has made come back byte for byte":
    "a message of AgentChat has no files, and no other place is in its conversation",
  "serve: a file that a run has made and that is too large for an envelope comes back byte for byte":
    "a message of AgentChat has no files, and no other place is in its conversation",
  "call: the tokens that the remote agent has used are counted by the framework":
    "a message of AutoGen's core has no usage; what a RemoteAgent says has it in models_usage",
  "call: artifacts go out byte for byte":
    "a message of AutoGen has no files, and neither has a message of its core",
  "call: a file that is too large for an envelope goes out byte for byte":
    "a message of AutoGen has no files, and neither has a message of its core",
};
