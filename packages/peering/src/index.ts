export { peerWith } from "./peering.ts";
export type { Peer, PeerOptions } from "./peering.ts";
