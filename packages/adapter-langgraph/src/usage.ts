import { BaseCallbackHandler } from "@langchain/core/callbacks/base";
import { AIMessage } from "@langchain/core/messages";
import type { BaseMessage, UsageMetadata } from "@langchain/core/messages";
import type { LLMResult } from "@langchain/core/outputs";
import type { RunnableConfig } from "@langchain/core/runnables";
import type { HandoffResult } from "@waybill/agent";
import type { CountedUsage, Run } from "@waybill/agent/adapter";
import { REMOTE_TAG } from "./tokens.ts";
import { withHandler } from "./with-handler.ts";

/** Listens to every model in a run, at any depth of the graph, and counts what it reports. */
class Counting extends BaseCallbackHandler {
  override name = "waybill.usage";
  // Otherwise LangChain may call it after the run has ended.
  override awaitHandlers = true;
  readonly #add: Run["addUsage"];

  constructor(add: Run["addUsage"]) {
    super();
    this.#add = add;
  }

  override handleLLMEnd(
    output: LLMResult,
    _runId: string,
    _parentRunId?: string,
    tags: string[] = [],
  ): void {
    // Another agent's usage comes with its result.
    if (!tags.includes(REMOTE_TAG)) this.#add(countedIn(output));
  }
}

/** A config whose run adds what its models report. */
export function counting<Config extends RunnableConfig>(
  config: Config,
  add: Run["addUsage"],
): Config {
  return withHandler(config, new Counting(add));
}

/** A message whose type says nothing about its usage, because a graph may have messages of any structure. */
type Counted = BaseMessage & { usage_metadata?: UsageMetadata | undefined };

function countedIn({ generations, llmOutput }: LLMResult): CountedUsage {
  const [message] = generations.flat().flatMap((each) => ("message" in each ? each.message : []));
  const used = (message as Counted | undefined)?.usage_metadata;
  if (used !== undefined) {
    return {
      model: modelOf(message as Counted),
      requests: 1,
      input_tokens: used.input_tokens,
      cached_input_tokens: used.input_token_details?.cache_read,
      output_tokens: used.output_tokens,
      reasoning_tokens: used.output_token_details?.reasoning,
    };
  }
  const { promptTokens, completionTokens } = (llmOutput?.["tokenUsage"] ?? {}) as TokenUsage;
  return { requests: 1, input_tokens: promptTokens, output_tokens: completionTokens };
}

/** Of a model that is not a chat model. */
interface TokenUsage {
  readonly promptTokens?: unknown;
  readonly completionTokens?: unknown;
}

function modelOf({ response_metadata: about }: BaseMessage): unknown {
  return about["model_name"] ?? about["model"];
}

/** A remote agent's usage, on the last of its messages, where LangChain looks for it. */
export function withUsage(messages: BaseMessage[], usage: HandoffResult["usage"]): BaseMessage[] {
  const last: Counted | undefined = messages.findLast((each) => AIMessage.isInstance(each));
  if (last !== undefined && usage !== undefined) last.usage_metadata = usageMetadata(usage);
  return messages;
}

function usageMetadata({ total }: NonNullable<HandoffResult["usage"]>): UsageMetadata {
  const { input_tokens, output_tokens, cached_input_tokens, reasoning_tokens } = total;
  return {
    input_tokens,
    output_tokens,
    total_tokens: input_tokens + output_tokens,
    input_token_details: { cache_read: cached_input_tokens },
    output_token_details: { reasoning: reasoning_tokens },
  };
}
