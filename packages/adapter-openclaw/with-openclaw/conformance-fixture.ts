import type { AdapterFixture } from "@waybill/conformance";
import { serveAgent } from "@waybill/adapter-openclaw";
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
  },

  serve: {
    names: ["main"],
    streams: true,
    async offer({ capability, act, folder }) {
      const { workspace } = await sharedPlace();
      const player = new Player(act, workspace);
      const gateway = await gatewayWith((session, request) => player.reply(session, request));
      return serveAgent(gateway, capability, { scope: folder });
    },
  },
};
