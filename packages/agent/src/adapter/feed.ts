import type { ProgressEvent, QuestionEvent } from "../delegating/events.ts";
import type { HandoffHandle } from "../delegating/handoff-handle.ts";

const feeds = new WeakMap<HandoffHandle, Feed>();

/**
 * What is said about one handoff, kept for whoever waits for it. A framework runs a step again and
 * again, in one process: what the run before has not dealt with is there for the next.
 */
export class Feed {
  /** Not shown yet. */
  readonly progress: ProgressEvent[] = [];
  /** Not answered yet. */
  readonly questions: Map<string, QuestionEvent> = new Map();
  #listener: (() => void) | undefined;
  #open = 2;

  static of(handle: HandoffHandle): Feed {
    const feed = feeds.get(handle) ?? new Feed(handle);
    feeds.set(handle, feed);
    return feed;
  }

  private constructor(handle: HandoffHandle) {
    void this.#read(handle.progress, (event) => this.progress.push(event));
    void this.#read(handle.questions, (event) => this.questions.set(event.id, event));
  }

  async #read<Event>(events: AsyncIterable<Event>, keep: (event: Event) => void): Promise<void> {
    for await (const event of events) {
      keep(event);
      this.#listener?.();
    }
    this.#open--;
    this.#listener?.();
  }

  /** Nothing more will come, and all progress was shown. */
  get isEnded(): boolean {
    return this.#open === 0 && this.progress.length === 0;
  }

  /** Tells one listener of every change; the one before hears of nothing more. */
  listen(listener: () => void): void {
    this.#listener = listener;
    listener();
  }
}
