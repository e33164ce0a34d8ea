export { serveConversation } from "./serve.ts";
export { converse } from "./converse.ts";
export type { Conversation, Converse, Reply } from "./conversation.ts";
export { handoffTool, handoffTools } from "./handoff-tool.ts";
export type { HandoffToolOptions } from "./handoff-tool.ts";
export { localTool, questionTool } from "./tool.ts";
export type { LocalTool, Tool, ToolReply, ToolUse } from "./tool.ts";
export type { Question } from "./waiting-for-answer.ts";
