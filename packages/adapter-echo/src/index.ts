export { serveEcho } from "./serve.ts";
export { remoteTool } from "./remote-tool.ts";
export type { RemoteToolOptions } from "./remote-tool.ts";
export { Echo } from "./echo.ts";
export type {
  EchoBot,
  EchoFile,
  EchoLine,
  EchoOptions,
  EchoPause,
  EchoPrompt,
  EchoReply,
  EchoTokens,
  EchoTool,
  EchoTurn,
} from "./echo.ts";
