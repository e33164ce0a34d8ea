import type { ProgressEvent, QuestionEvent } from "../delegating/events.ts";
import type { HandoffHandle } from "../delegating/handoff-handle.ts";

const feeds = new WeakMap<HandoffHandle, Feed>();

/**
 * Progress and questions of one handoff, kept for whoever waits for it. A framework may repeat a step
 * in the same process: the next run gets what the previous one has not handled.
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

  /** Calls one listener on every change. A new listener replaces the previous one. */
  listen(listener: () => void): void {
    this.#listener = listener;
    listener();
  }
}
