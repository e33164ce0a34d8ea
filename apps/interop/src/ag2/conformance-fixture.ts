import type { AdapterFixture } from "@waybill/conformance";
import { pythonPeer } from "../python-peer.ts";

/** Agents of AG2, in Python: one with a scripted model is served, and one with a remote tool calls. */
export const fixture: AdapterFixture = {
  adapter: "ag2",
  module: new URL(import.meta.url),
  peer: pythonPeer("ag2", { names: ["forecaster"], streams: true }),
};
