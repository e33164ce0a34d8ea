import { CallbackManager } from "@langchain/core/callbacks/manager";
import type { CallbackManagerForLLMRun } from "@langchain/core/callbacks/manager";
import { AIMessageChunk } from "@langchain/core/messages";
import { ChatGenerationChunk } from "@langchain/core/outputs";
import type { Serialized } from "@langchain/core/load/serializable";
import type { LangGraphRunnableConfig } from "@langchain/langgraph";
import type { DeltaEvent } from "@waybill/agent";

const REMOTE: Serialized = { lc: 1, type: "not_implemented", id: ["waybill", "remote"] };

/**
 * Shows what another agent writes as LangChain shows the tokens of a model: that is what
 * `streamMode: "messages"` reads. Where nothing is written, nothing of a model is seen.
 */
export class Tokens {
  readonly #config: LangGraphRunnableConfig;
  readonly #handoffId: string;
  #run: CallbackManagerForLLMRun | undefined;
  #attempt = 0;
  #text = "";

  constructor(config: LangGraphRunnableConfig, handoffId: string) {
    this.#config = config;
    this.#handoffId = handoffId;
  }

  async show({ attempt, by, text }: DeltaEvent): Promise<void> {
    // Another attempt is another message: what the one before has written is void.
    if (attempt !== this.#attempt) await this.end();
    this.#attempt = attempt;
    this.#text += text;
    this.#run ??= await this.#begun();
    const message = new AIMessageChunk({ content: text, id: this.#id, name: by });
    const chunk = new ChatGenerationChunk({ text, message });
    await this.#run?.handleLLMNewToken(text, undefined, undefined, undefined, undefined, { chunk });
  }

  async end(): Promise<void> {
    const [run, text] = [this.#run, this.#text];
    [this.#run, this.#text] = [undefined, ""];
    const message = new AIMessageChunk({ content: text, id: this.#id });
    await run?.handleLLMEnd({ generations: [[new ChatGenerationChunk({ text, message })]] });
  }

  get #id(): string {
    return `${this.#handoffId}/${this.#attempt}`;
  }

  async #begun(): Promise<CallbackManagerForLLMRun | undefined> {
    const { callbacks, tags, metadata } = this.#config;
    const manager = CallbackManager.configure(callbacks, undefined, tags, undefined, metadata);
    const runs = await manager?.handleChatModelStart(REMOTE, [[]]);
    return runs?.[0];
  }
}
