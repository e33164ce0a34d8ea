// The messages of the AI SDK, which adapters of its frameworks convert to and from.
export { openCallsOf } from "./model-message.ts";
export type { ModelMessage, ModelPart, ToolCallPart } from "./model-message.ts";
export { fileOf, modelMessagesOf, toolResult } from "./to-model-messages.ts";
export { artifactsIn, messagesOf } from "./from-model-messages.ts";
