import type { AdapterFixture } from "@waybill/conformance";
import { AUTOGEN_GAPS } from "../autogen-gaps.ts";
import { pythonPeer } from "../python-peer.ts";

const FAILS_FOR_GOOD =
  "a team of AutoGen tells of a member's failure in words, and that it may be tried again is lost";

/** Teams of AutoGen, in Python: a scripted one is served; a remote member and a core agent call. */
export const fixture: AdapterFixture = {
  adapter: "autogen",
  module: new URL(import.meta.url),
  peer: pythonPeer("autogen"),
  hasNoRoles: true,
  gaps: {
    ...AUTOGEN_GAPS,
    "serve: a retried turn is in its conversation once": FAILS_FOR_GOOD,
    "serve: a run that stops itself ends as 499":
      "a team of AutoGen waits for ever for a member that cancels itself: the deadline ends the handoff",
    "serve: every attempt runs under the same name, which is the handoff's id": FAILS_FOR_GOOD,
  },
};
