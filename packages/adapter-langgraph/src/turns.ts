import { emptyCheckpoint } from "@langchain/langgraph";
import type { BaseCheckpointSaver } from "@langchain/langgraph";

/** The turn of one handoff in a thread that other handoffs have turns in, too. */
export interface Turn {
  readonly handoffId: string;
  /** The checkpoint from which it was begun; null if the thread was new. */
  readonly base: string | null;
  /** When its handoff has to end, in milliseconds since 1970: until then its questions may be answered. */
  readonly until: number;
}

/** In the same thread beside the checkpoints of the graph, so that they are deleted together. */
const NAMESPACE = "waybill";
const LOOKED_AT = 100;

/**
 * The turns of a thread, kept by its checkpointer. LangGraph does not record which handoff a run
 * belongs to, and a turn that is begun a second time would be in the conversation twice.
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

  /** The turn after that of a handoff; undefined if the handoff has had none, or the last one. */
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
