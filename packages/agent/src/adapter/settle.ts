import { WaybillError } from "@waybill/protocol";
import type { Json } from "@waybill/protocol";
import type { HandoffResult } from "../delegating/ending.ts";
import type { DeltaEvent, ProgressEvent, QuestionEvent } from "../delegating/events.ts";
import type { HandoffHandle } from "../delegating/handoff-handle.ts";
import type { Work } from "../serving/work.ts";
import { loaded } from "./artifact.ts";
import { currentWork } from "./current-work.ts";
import { asFailureOfPart } from "./failure.ts";
import { Feed } from "./feed.ts";

/** How a framework takes part while the other agent works. */
export interface Listening {
  /** The framework's own signal: aborting the run cancels the handoff. */
  readonly signal?: AbortSignal | undefined;
  /** Writes progress into the framework's own stream. The next progress waits until this one is taken. */
  readonly onProgress?: ((event: ProgressEvent) => void | Promise<void>) | undefined;
  /**
   * Writes deltas into the framework's own token stream. By default they go to the delegator of the
   * served run, and outside of one to `onProgress`, as messages.
   */
  readonly onDelta?: ((event: DeltaEvent) => void | Promise<void>) | undefined;
  /**
   * Gets an answer by the framework's own means. An error that the framework throws to pause passes
   * through and leaves the handoff as it is: the repeated step is asked again. A `WaybillError` is a
   * refusal and cancels the handoff.
   */
  readonly onQuestion: (question: QuestionEvent) => Promise<Json>;
}

/** Waits for the end of a handoff, and lets the framework take part until then. */
export async function settle(handle: HandoffHandle, listening: Listening): Promise<HandoffResult> {
  const { signal } = listening;
  const waiting = new PendingHandoff(handle, listening);
  const cancel = () => waiting.cancel(signal?.reason);
  if (signal?.aborted === true) cancel();
  else signal?.addEventListener("abort", cancel, { once: true });
  try {
    return await waiting.result;
  } finally {
    waiting.isOver = true;
    signal?.removeEventListener("abort", cancel);
  }
}

/** One wait of a framework's step. The step may end before the handoff does. */
class PendingHandoff {
  isOver = false;
  readonly #handle: HandoffHandle;
  readonly #listening: Listening;
  readonly #feed: Feed;
  readonly #ended = Promise.withResolvers<HandoffResult>();
  readonly #asked = new Set<string>();
  #shown: Promise<void> = Promise.resolve();
  /** The served run that waits, if there is one. */
  readonly #work: Work | undefined = currentWork();
  readonly #deltasShown: Promise<void>;

  constructor(handle: HandoffHandle, listening: Listening) {
    this.#handle = handle;
    this.#listening = listening;
    this.#feed = Feed.of(handle);
    this.#feed.listen(() => this.#heard());
    this.#deltasShown = this.#showDeltas();
    this.#deltasShown.catch(this.#ended.reject);
  }

  get result(): Promise<HandoffResult> {
    return this.#ended.promise;
  }

  /** Stops the run after the hub has confirmed the cancellation. */
  cancel(reason: unknown): void {
    this.#handle
      .cancel(reason instanceof Error ? reason.message : undefined)
      .then(() => this.#ended.reject(reason), this.#ended.reject);
  }

  #heard(): void {
    if (this.isOver) return;
    for (const question of this.#feed.questions.values()) {
      if (this.#asked.has(question.id)) continue;
      this.#asked.add(question.id);
      this.#answer(question).catch(this.#ended.reject);
    }
    this.#shown = this.#shown.then(() => this.#show());
    this.#shown
      // Everything that came before the end is shown before the end.
      .then(() => (this.#feed.isEnded ? this.#end() : undefined))
      .catch(this.#ended.reject);
  }

  async #show(): Promise<void> {
    while (!this.isOver && this.#feed.progress.length > 0) {
      // Taken from the feed first: with `onProgress?.(feed.take())` it would stay there without a
      // listener, and this loop would never end.
      const event = this.#feed.progress.shift()!;
      await this.#listening.onProgress?.(event);
    }
  }

  async #showDeltas(): Promise<void> {
    const { onDelta, onProgress } = this.#listening;
    const work = this.#work;
    if (onDelta === undefined && work === undefined && onProgress === undefined) return;
    for await (const delta of this.#handle.deltas) {
      if (this.isOver) return;
      const { by, attempt, text } = delta;
      if (onDelta !== undefined) await onDelta(delta);
      else if (work !== undefined) work.delta(text);
      else await onProgress?.({ by, attempt, message: text });
    }
  }

  async #answer(question: QuestionEvent): Promise<void> {
    let answer: Json;
    try {
      answer = await this.#listening.onQuestion(question);
    } catch (error) {
      if (WaybillError.is(error)) await this.#handle.cancel(error.message);
      throw error;
    }
    if (this.isOver) return;
    this.#feed.questions.delete(question.id);
    try {
      await this.#handle.answer(question.id, answer);
    } catch (error) {
      // The question was answered already, or its attempt is over.
      if (!WaybillError.is(error, 410)) throw error;
    }
  }

  async #end(): Promise<void> {
    await this.#deltasShown;
    try {
      const result = await this.#handle.result;
      this.#ended.resolve({ ...result, artifacts: await loaded(result.artifacts) });
    } catch (error) {
      throw WaybillError.is(error) ? asFailureOfPart(error) : error;
    }
  }
}
