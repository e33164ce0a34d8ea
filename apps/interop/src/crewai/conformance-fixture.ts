import type { AdapterFixture } from "@waybill/conformance";
import { pythonPeer } from "../python-peer.ts";

/** Crews of CrewAI, in Python: a scripted one is served, and one with a remote member calls. */
export const fixture: AdapterFixture = {
  adapter: "crewai",
  module: new URL(import.meta.url),
  peer: pythonPeer("crewai"),
  hasNoRoles: true,
  gaps: {
    "serve: code in the framework gets the complete history":
      "the inputs of a crew are words: a history arrives in them, its tool calls too",
    "call: an image in a conversation goes out whole":
      "what a task knows of others is one text, its context, and its files",
    "serve: an image in the messages that a run has added comes back whole":
      "a crew tells the words of its tasks, and no messages",
    "serve: artifacts arrive byte for byte": "the inputs of a crew are words",
    "serve: a file that is too large for an envelope arrives byte for byte":
      "the inputs of a crew are words",
    "serve: the messages that a run has added come back whole, and no others":
      "a crew tells the words of its tasks, and no messages",
    "serve: the artifacts that a run has made come back byte for byte":
      "a crew tells the words of its tasks, and has no files",
    "serve: a file that a run has made and that is too large for an envelope comes back byte for byte":
      "a crew tells the words of its tasks, and has no files",
    "call: a history goes out whole, with its roles, names and tool calls":
      "what a task knows of others is one text, its context",
    "call: the tokens that the remote agent has used are counted by the framework":
      "a tool of CrewAI has no usage; a RemoteMember counts in the crew's usage_metrics",
    "call: artifacts go out byte for byte":
      "a tool of CrewAI gets no files; a RemoteMember sends those of its task",
    "call: a file that is too large for an envelope goes out byte for byte":
      "a tool of CrewAI gets no files; a RemoteMember sends those of its task",
  },
};
