import type { Message } from "@waybill/protocol";

interface TranscriptBudget {
  /** Conversations that are kept; beyond, the one that has rested longest is forgotten. */
  readonly conversations: number;
  /** How long all of them may be together, as JSON. */
  readonly characters: number;
}

const TRANSCRIPT_BUDGET: TranscriptBudget = {
  conversations: 1_000,
  characters: 32 * 1024 * 1024,
};

interface Conversation {
  /** By the handoffs that they were said in: a turn that is tried again is there once. */
  readonly turns: Map<string, readonly Message[]>;
  characters: number;
}

/** What was said in conversations, for frameworks that keep none of their own. Gone with the process. */
export class Transcripts {
  readonly #budget: TranscriptBudget;
  /** The one that was talked in last is the last one. */
  readonly #conversations = new Map<string, Conversation>();
  #characters = 0;

  constructor(budget: TranscriptBudget = TRANSCRIPT_BUDGET) {
    this.#budget = budget;
  }

  /** What was said in other turns than that of this handoff; undefined where there are none. */
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
