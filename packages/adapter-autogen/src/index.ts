export { openAutogenHost } from "./host.ts";
export type { AutogenHost, AutogenHostOptions, ConversationOfAgent, Question } from "./host.ts";
export type { HostEvent } from "./host-event.ts";
export { serveAgent } from "./serve.ts";
export type { ServeAgentOptions } from "./serve.ts";
export { remoteAgent } from "./remote-agent.ts";
export type { RemoteAgent, RemoteAgentOptions, Sent } from "./remote-agent.ts";
export type { AutogenMessage } from "./message.ts";
export type { AgentId } from "./wire.ts";
