import type { AdapterFixture } from "@waybill/conformance";
import { pythonPeer } from "../python-peer.ts";

const IMAGES = "a crew is given words, and work with an image in its history is refused with 422";

/** Crews of CrewAI, in Python: one that plays is served, and one with a remote member calls. */
export const fixture: AdapterFixture = {
  adapter: "crewai",
  module: new URL(import.meta.url),
  peer: pythonPeer("crewai"),
  gaps: {
    "serve: code in the framework has the history whole":
      "the inputs of a crew are words: a history arrives in them, its tool calls too",
    "serve: an image in a history reaches the model": IMAGES,
    "serve: an image that another agent has shown reaches the model": IMAGES,
    "serve: an image that goes along with a conversation reaches the model": IMAGES,
    "call: an image in a conversation goes out whole":
      "what a task knows of others is one text, its context",
    "call: an image in a conversation goes along with a task":
      "what a task knows of others is one text, its context",
    "serve: an image in the messages that a run has added comes back whole":
      "a crew tells the words of its tasks, and no messages",
    "serve: artifacts arrive byte for byte": "the inputs of a crew are words",
    "serve: the messages that a run has added come back whole, and no others":
      "a crew tells the words of its tasks, and no messages",
    "serve: the artifacts that a run has made come back byte for byte":
      "a crew tells the words of its tasks, and has no files",
    "call: a history goes out whole, with its roles, names and tool calls":
      "what a task knows of others is one text, its context",
    "call: the tokens that the remote agent has used are counted by the framework":
      "a tool of CrewAI has no usage; a RemoteMember counts in the crew's usage_metrics",
    "call: artifacts go out byte for byte": "a task of a crew has no files for other agents",
  },
};
