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
 * Settles once the checkpoints from which a step has started are stored, its own and those of the
 * graphs around it; false if they are not. A task's id is derived from them: without this, a handoff
 * that is sent before they are stored would be sent again under another id after a crash. LangGraph
 * itself waits for them before the next step at most, and never before the first.
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
