export { serveAgent } from "./serve.ts";
export type { ServeAgentOptions } from "./serve.ts";
export { questionTool } from "./question.ts";
export { remoteAgent, remoteHandoff } from "./remote-agent.ts";
export type { RemoteOptions } from "./remote.ts";
export { remoteTool } from "./remote-tool.ts";
export type { RemoteToolOptions } from "./remote-tool.ts";
