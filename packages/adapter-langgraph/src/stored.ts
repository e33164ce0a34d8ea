import { setTimeout } from "node:timers/promises";
import type { BaseCheckpointSaver, LangGraphRunnableConfig } from "@langchain/langgraph";

/** Longer than any saver takes for what was begun before the step was. */
const PATIENCE_MS = 1_000;

/** The saver of the run that a step belongs to. */
export function saverIn({
  configurable,
}: LangGraphRunnableConfig): BaseCheckpointSaver | undefined {
  return configurable?.["__pregel_checkpointer"] as BaseCheckpointSaver | undefined;
}

/**
 * Settles once the checkpoints that a step has started from are stored, its own and those of the
 * graphs around it; false where they are not. A task's id is made of them: what is sent under it
 * before they are stored would be sent again, under another, by the run after a crash. LangGraph
 * waits for them before a next step at most, and never before the first.
 */
export async function isStored(config: LangGraphRunnableConfig): Promise<boolean> {
  const saver = saverIn(config);
  if (saver === undefined) return false;
  const { thread_id, checkpoint_map = {} } = config.configurable as {
    thread_id: string;
    checkpoint_map?: Readonly<Record<string, string>>;
  };
  const until = Date.now() + PATIENCE_MS;
  for (const [checkpoint_ns, checkpoint_id] of Object.entries(checkpoint_map)) {
    const wanted = { configurable: { thread_id, checkpoint_ns, checkpoint_id } };
    while ((await saver.getTuple(wanted)) === undefined) {
      if (Date.now() > until) return false;
      await setTimeout(1);
    }
  }
  return true;
}
