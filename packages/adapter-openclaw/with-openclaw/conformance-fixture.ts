import type { AdapterFixture } from "@waybill/conformance";
import { serveAgent } from "../src/index.ts";
import { called } from "./caller.ts";
import { Player } from "./player.ts";
import { gatewayWith, sharedPlace } from "./stage.ts";

const IMAGES_AND_TEXT =
  "a turn of OpenClaw takes text and images, and its gateway hands out files of a workspace only if they are text or images";

const REPLY_ALONE =
  "a turn of OpenClaw comes to one reply in words, with the files that it attaches";

const CLASS_OF_FAILURE =
  "a gateway tells its clients the class of a failure; the words of a model's provider stay in its log";

const OWN_HANDOFF =
  "what a gateway's agent hands off is not known to the adapter that serves the agent";

const WORDS_AND_A_VALUE =
  "a model of the gateway hands off with a tool call, which takes words and a value";

const OWN_TOKENS = "a gateway counts the tokens of its own models only";

const NAMES_OF_FILES = "a model of the gateway is told of files by name";

/** How the suite uses the agents of a gateway. */
export const fixture: AdapterFixture = {
  adapter: "openclaw",
  module: new URL(import.meta.url),
  hasNoRoles: true,
  startsProcesses: true,
  gaps: {
    "serve: code in the framework gets the complete history":
      "a turn of OpenClaw is one text, which names the speakers",
    "serve: artifacts arrive byte for byte": IMAGES_AND_TEXT,
    "serve: a file that is too large for an envelope arrives byte for byte": IMAGES_AND_TEXT,
    "serve: the artifacts that a run has made come back byte for byte": IMAGES_AND_TEXT,
    "serve: a file that a run has made and that is too large for an envelope comes back byte for byte":
      IMAGES_AND_TEXT,
    "serve: the messages that a run has added come back whole, and no others": REPLY_ALONE,
    "serve: an image in the messages that a run has added comes back whole": REPLY_ALONE,
    "serve: a framework's error is a 500 with its real message": CLASS_OF_FAILURE,
    "serve: the cause of a framework's error is reported": CLASS_OF_FAILURE,
    "serve: a run that stops itself ends as 499":
      "a run of OpenClaw is stopped from outside, and has no way to stop itself",
    "serve: the framework sees the trace of the handoff":
      "the gateway's protocol has no place for a trace",
    "serve: a handoff made inside a run is its child": OWN_HANDOFF,
    "serve: a failed child makes a 424": OWN_HANDOFF,
    "call: a history goes out whole, with its roles, names and tool calls": WORDS_AND_A_VALUE,
    "call: what was said before goes out with the work": WORDS_AND_A_VALUE,
    "call: artifacts go out byte for byte": WORDS_AND_A_VALUE,
    "call: a file that is too large for an envelope goes out byte for byte": WORDS_AND_A_VALUE,
    "call: an image in a conversation goes out whole": WORDS_AND_A_VALUE,
    "call: an image in a conversation goes along with a task": WORDS_AND_A_VALUE,
    "call: the artifacts of a result come back into the framework byte for byte": NAMES_OF_FILES,
    "call: a file of a result that is too large for an envelope comes back into the framework byte for byte":
      NAMES_OF_FILES,
    "call: the cause of a failure reaches the framework":
      "a model of the gateway is told a failure with its status and message",
    "call: the tokens that the remote agent has used are counted by the framework": OWN_TOKENS,
    "call: the tokens that the remote agent has used in a conversation are counted by the framework":
      OWN_TOKENS,
    "call: the framework's trace goes along": "the gateway's plugins are given no trace",
    "call: a large payload passes both ways":
      "the gateway ends a run whose tool call has arguments of a quarter of a megabyte",
    "call: inside a served run, a call is a child of its handoff": OWN_HANDOFF,
  },

  serve: {
    names: ["main"],
    streams: true,
    async offer({ capability, act, folder }) {
      const { workspace } = await sharedPlace();
      const player = new Player(act, workspace);
      const gateway = await gatewayWith({
        model: (session, request) => player.reply(session, request),
      });
      return serveAgent(gateway, capability, { scope: folder });
    },
  },

  call: { run: called },
};
