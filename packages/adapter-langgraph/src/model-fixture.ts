import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage } from "@langchain/core/messages";
import type { BaseMessage } from "@langchain/core/messages";
import type { ChatResult } from "@langchain/core/outputs";

type Reply = (
  messages: readonly BaseMessage[],
  tools: readonly string[],
) => AIMessage | Promise<AIMessage>;

/** A scripted language model. It answers the same to the same, after a restart too. */
export class ScriptedModel extends BaseChatModel {
  readonly #reply: Reply;
  #tools: readonly string[] = [];

  constructor(reply: Reply) {
    super({});
    this.#reply = reply;
  }

  override _llmType(): string {
    return "scripted";
  }

  override bindTools(tools: readonly unknown[]): this {
    this.#tools = tools.map((each) => nameOf(each));
    return this;
  }

  override async _generate(messages: BaseMessage[]): Promise<ChatResult> {
    const message = await this.#reply(messages, this.#tools);
    return { generations: [{ text: message.text, message }] };
  }
}

function nameOf(given: unknown): string {
  const { name, function: called } = given as { name?: string; function?: { name: string } };
  return called?.name ?? name ?? "";
}

/** Calls tools once, in parallel, and ends when they have answered. */
export function usingTools(
  calls: readonly { readonly name: string; readonly args: object; readonly id: string }[],
  last = "done",
  onAnswered: (messages: readonly BaseMessage[]) => void = () => undefined,
): ScriptedModel {
  return new ScriptedModel((messages) => {
    if (messages.at(-1)?.type === "tool") {
      onAnswered(messages);
      return new AIMessage(last);
    }
    return new AIMessage({
      content: "",
      tool_calls: calls.map((each) => ({
        ...each,
        args: each.args as Record<string, unknown>,
        type: "tool_call",
      })),
    });
  });
}
