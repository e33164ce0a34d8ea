import { emptyCheckpoint } from "@langchain/langgraph";
import type { BaseCheckpointSaver } from "@langchain/langgraph";

/** The turn of one handoff in a thread that others have turns in, too. */
export interface Turn {
  readonly handoffId: string;
  /** The checkpoint of the thread from which it was begun; null where the thread was new. */
  readonly base: string | null;
  /** When its handoff has to end, in milliseconds since 1970: until then what it asks may be answered. */
  readonly until: number;
}

/** Beside the checkpoints of the graph, in the same thread: whoever deletes that deletes these, too. */
const NAMESPACE = "waybill";
const LOOKED_AT = 100;

/**
 * The turns of a thread, kept by its checkpointer. LangGraph keeps nothing of a run that tells whose it
 * was, and a turn that is begun a second time would be in the conversation twice.
 */
export class TurnsOfThread {
  readonly #saver: BaseCheckpointSaver;
  readonly #config: { readonly configurable: { thread_id: string; checkpoint_ns: string } };

  constructor(saver: BaseCheckpointSaver, thread: string) {
    this.#saver = saver;
    this.#config = { configurable: { thread_id: thread, checkpoint_ns: NAMESPACE } };
  }

  async last(): Promise<Turn | undefined> {
    return turnIn((await this.#saver.getTuple(this.#config))?.metadata);
  }

  async begin(turn: Turn): Promise<void> {
    const metadata = { source: "update", step: 0, parents: {}, [NAMESPACE]: turn } as const;
    await this.#saver.put(this.#config, emptyCheckpoint(), metadata, {});
  }

  /** The turn after that of a handoff; undefined where the handoff has had none, or the last one. */
  async after(handoffId: string): Promise<Turn | undefined> {
    let next: Turn | undefined;
    // The newest come first.
    for await (const { metadata } of this.#saver.list(this.#config, { limit: LOOKED_AT })) {
      const turn = turnIn(metadata);
      if (turn?.handoffId === handoffId) return next;
      next = turn;
    }
    return undefined;
  }
}

function turnIn(metadata: Readonly<Record<string, unknown>> = {}): Turn | undefined {
  return metadata[NAMESPACE] as Turn | undefined;
}
