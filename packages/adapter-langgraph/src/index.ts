export { serveGraph } from "./serve.ts";
export type { GraphConfig, ServeGraphOptions } from "./serve.ts";
export type { AgentOfGraph, Graph } from "./graph.ts";
export { remoteNode } from "./remote-node.ts";
export type { RemoteNodeOptions } from "./remote-node.ts";
export { remote } from "./remote.ts";
export type { Handoff, RemoteOptions } from "./remote.ts";
