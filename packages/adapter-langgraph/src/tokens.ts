import { CallbackManager } from "@langchain/core/callbacks/manager";
import type { CallbackManagerForLLMRun } from "@langchain/core/callbacks/manager";
import { AIMessageChunk } from "@langchain/core/messages";
import { ChatGenerationChunk } from "@langchain/core/outputs";
import type { Serialized } from "@langchain/core/load/serializable";
import type { LangGraphRunnableConfig } from "@langchain/langgraph";
import type { DeltaEvent } from "@waybill/agent";

/** Distinguishes the run of another agent from that of a model, whose tokens are counted. */
export const REMOTE_TAG = "waybill:remote";

const REMOTE: Serialized = { lc: 1, type: "not_implemented", id: ["waybill", "remote"] };

/**
 * Shows what another agent writes in the way of LangChain's model tokens, which `streamMode:
 * "messages"` reads. An agent that sends no deltas is not shown as a model.
 */
export class Tokens {
  readonly #config: LangGraphRunnableConfig;
  readonly #handoffId: string;
  readonly #name: string | undefined;
  #run: CallbackManagerForLLMRun | undefined;
  #attempt = 0;

  /** `name`: the agent's name in the graph, whatever it calls itself. */
  constructor(config: LangGraphRunnableConfig, handoffId: string, name: string | undefined) {
    this.#config = config;
    this.#handoffId = handoffId;
    this.#name = name;
  }

  async show({ attempt, text }: DeltaEvent): Promise<void> {
    // A new attempt is a new message, because it writes the text from its start.
    if (attempt !== this.#attempt) await this.end();
    this.#attempt = attempt;
    this.#run ??= await this.#begun();
    const id = tokensId(this.#handoffId, attempt);
    const message = new AIMessageChunk({
      content: text,
      id,
      ...(this.#name && { name: this.#name }),
    });
    const chunk = new ChatGenerationChunk({ text, message });
    await this.#run?.handleLLMNewToken(text, undefined, undefined, undefined, undefined, { chunk });
  }

  async end(): Promise<void> {
    const run = this.#run;
    this.#run = undefined;
    // The whole text comes with the result, and is not kept here a second time.
    await run?.handleLLMEnd({ generations: [[]] });
  }

  async #begun(): Promise<CallbackManagerForLLMRun | undefined> {
    const { callbacks, tags, metadata } = this.#config;
    const manager = CallbackManager.configure(callbacks, undefined, tags, [REMOTE_TAG], metadata);
    const runs = await manager?.handleChatModelStart(REMOTE, [[]]);
    return runs?.[0];
  }
}

/** The id of the message that an attempt writes, so that the complete message replaces its tokens. */
export function tokensId(handoffId: string, attempt: number): string {
  return `${handoffId}/${attempt}`;
}
