export { serveAgent } from "./serve.ts";
export type { ServeAgentOptions } from "./serve.ts";
export { remoteTool } from "./remote-tool.ts";
export type { RemoteResult, RemoteToolOptions } from "./remote-tool.ts";
export { remoteSubAgent } from "./remote-sub-agent.ts";
export type { RemoteOptions } from "./remote.ts";
export { questionTool } from "./question.ts";
export { servedRun } from "./served-run.ts";
