export { serveAgent, serveGeneration } from "./serve.ts";
export type {
  Generating,
  ServableAgent,
  ServeAgentOptions,
  ServeGenerationOptions,
} from "./serve.ts";
export { currentRun } from "@waybill/agent/adapter";
export type { Generation, GenerationOptions } from "./generation.ts";
export { questionTool } from "./question.ts";
export { remoteTool } from "./remote-tool.ts";
export type { RemoteToolOptions, ToolCallOptions } from "./remote-tool.ts";
export { isRemoteOutput } from "./remote-output.ts";
export type { RemoteDone, RemoteFailed, RemoteOutput, RemoteWorking } from "./remote-output.ts";
