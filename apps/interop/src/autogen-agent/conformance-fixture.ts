import type { AdapterFixture } from "@waybill/conformance";
import { AUTOGEN_GAPS } from "../autogen-gaps.ts";
import { pythonPeer } from "../python-peer.ts";

/**
 * An agent of AutoGen without a team, in Python: a scripted one is served; a remote one and a core
 * agent call.
 */
export const fixture: AdapterFixture = {
  adapter: "autogen, agent",
  module: new URL(import.meta.url),
  peer: pythonPeer("autogen", { side: "autogen_agent", streams: true }),
  hasNoRoles: true,
  gaps: AUTOGEN_GAPS,
};
