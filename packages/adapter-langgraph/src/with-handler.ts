import type { BaseCallbackHandler } from "@langchain/core/callbacks/base";
import type { RunnableConfig } from "@langchain/core/runnables";

/** A config with one more handler, which is called for everything in the run, at any depth. */
export function withHandler<Config extends RunnableConfig>(
  config: Config,
  handler: BaseCallbackHandler,
): Config {
  const { callbacks = [] } = config;
  const all = Array.isArray(callbacks) ? [...callbacks, handler] : callbacks.copy([handler]);
  return { ...config, callbacks: all };
}
