import type { Message } from "@waybill/protocol";

interface TranscriptBudget {
  /** The number of kept conversations; beyond it the least recently used one is forgotten. */
  readonly conversations: number;
  /** The most characters of all of them together, as JSON. */
  readonly characters: number;
}

const TRANSCRIPT_BUDGET: TranscriptBudget = {
  conversations: 1_000,
  characters: 32 * 1024 * 1024,
};

interface Conversation {
  /** By handoff, so that a retried turn is there once. */
  readonly turns: Map<string, readonly Message[]>;
  characters: number;
}

/** The conversations of frameworks that keep none of their own. They are lost with the process. */
export class Transcripts {
  readonly #budget: TranscriptBudget;
  /** In order of use: the most recently used conversation is the last. */
  readonly #conversations = new Map<string, Conversation>();
  #characters = 0;

  constructor(budget: TranscriptBudget = TRANSCRIPT_BUDGET) {
    this.#budget = budget;
  }

  /** What was said in the turns before this handoff; undefined if there are none. */
  before(thread: string, handoffId: string): Message[] | undefined {
    const turns = [...(this.#conversations.get(thread)?.turns ?? [])];
    const others = turns.filter(([id]) => id !== handoffId);
    return others.length === 0 ? undefined : others.flatMap(([, messages]) => messages);
  }

  keep(thread: string, handoffId: string, messages: readonly Message[]): void {
    const conversation = this.#conversations.get(thread) ?? { turns: new Map(), characters: 0 };
    const more = sizeOf(messages) - sizeOf(conversation.turns.get(handoffId) ?? []);
    conversation.turns.set(handoffId, messages);
    conversation.characters += more;
    this.#characters += more;
    this.#conversations.delete(thread);
    this.#conversations.set(thread, conversation);
    for (const [oldest, { characters }] of this.#conversations) {
      const isFull = this.#conversations.size > this.#budget.conversations;
      if (!isFull && this.#characters <= this.#budget.characters) return;
      this.#conversations.delete(oldest);
      this.#characters -= characters;
    }
  }
}

function sizeOf(messages: readonly Message[]): number {
  return JSON.stringify(messages).length;
}
