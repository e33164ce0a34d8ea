import type { StatusCode } from "../status.ts";

/**
 * The OpenTelemetry semantic conventions that all names here come from. They are still in development
 * and get renamed: this version is the last one that has the messaging and the GenAI names in one
 * document.
 */
export const CONVENTIONS = {
  version: "1.41.0",
  schemaUrl: "https://opentelemetry.io/schemas/1.41.0",
} as const;

/** The value of Waybill where the conventions ask for a system or a provider. */
export const SYSTEM = "waybill";

export const MESSAGING = {
  system: "messaging.system",
  operationName: "messaging.operation.name",
  operationType: "messaging.operation.type",
  destination: "messaging.destination.name",
  clientId: "messaging.client.id",
  messageId: "messaging.message.id",
  conversationId: "messaging.message.conversation_id",
} as const;

/** Waybill's own attributes: the conventions give each system a namespace. */
export const WAYBILL = {
  handoffId: "messaging.waybill.handoff.id",
  capability: "messaging.waybill.capability",
  onBehalfOf: "messaging.waybill.on_behalf_of",
  attempt: "messaging.waybill.attempt",
} as const;

export const GEN_AI = {
  operationName: "gen_ai.operation.name",
  provider: "gen_ai.provider.name",
  agentId: "gen_ai.agent.id",
  agentName: "gen_ai.agent.name",
  conversationId: "gen_ai.conversation.id",
  model: "gen_ai.request.model",
  tokenType: "gen_ai.token.type",
  inputTokens: "gen_ai.usage.input_tokens",
  cachedTokens: "gen_ai.usage.cache_read.input_tokens",
  outputTokens: "gen_ai.usage.output_tokens",
  reasoningTokens: "gen_ai.usage.reasoning.output_tokens",
} as const;

const ERROR_TYPE = "error.type";

/** Only the status: an error's message may contain content of the work. */
export function failureAttributes(status: StatusCode): Record<string, string> {
  return { [ERROR_TYPE]: String(status) };
}
