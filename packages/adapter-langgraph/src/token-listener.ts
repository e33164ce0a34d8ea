import { BaseCallbackHandler } from "@langchain/core/callbacks/base";
import type { HandleLLMNewTokenCallbackFields } from "@langchain/core/callbacks/base";

/** What LangGraph leaves out of its own stream of tokens. */
const UNSEEN = ["nostream", "langsmith:nostream"];

/**
 * Listens to the tokens of the models in a graph. `streamMode: "messages"` would report them too, but
 * it gives all messages of a node without an id the same one, so that only the last is kept.
 */
export class TokenListener extends BaseCallbackHandler {
  override name = "waybill_tokens";
  /** Makes models stream that are only invoked. */
  lc_prefer_streaming = true;
  readonly #hear: (text: string) => void;

  constructor(hear: (text: string) => void) {
    super();
    this.awaitHandlers = true;
    this.#hear = hear;
  }

  override handleLLMNewToken(
    token: string,
    _index: unknown,
    _runId: string,
    _parentRunId?: string,
    tags: string[] = [],
    { chunk }: HandleLLMNewTokenCallbackFields = {},
  ): void {
    if (tags.some((tag) => UNSEEN.includes(tag))) return;
    this.#hear(chunk !== undefined && "message" in chunk ? chunk.message.text : token);
  }
}
