import type { HandoffEnvelope, VerifiedEnvelope } from "@waybill/protocol";
import type { ShownDelta } from "@waybill/protocol/wire";
import { DeltaStream } from "./delta-stream.ts";
import type { DeltaEvent, ProgressEvent, QuestionEvent } from "./events.ts";
import type { AskedQuestion } from "./replies.ts";
import { Stream } from "./stream.ts";

const PROGRESS_KEPT = 1_000;
const QUESTIONS_KEPT = 256;

/** What a recipient reports until its handoff has ended: progress, questions and deltas. */
export class EventStreams {
  readonly progress: Stream<ProgressEvent> = new Stream<ProgressEvent>(PROGRESS_KEPT);
  readonly questions: Stream<QuestionEvent> = new Stream<QuestionEvent>(QUESTIONS_KEPT);
  /** Created by the first reader: unread deltas are not kept. */
  #deltas: DeltaStream | undefined;
  readonly #asked = new Map<string, AskedQuestion>();
  #isEnded = false;

  get deltas(): AsyncIterable<DeltaEvent> {
    if (this.#deltas === undefined) {
      this.#deltas = new DeltaStream();
      if (this.#isEnded) this.#deltas.end();
    }
    return this.#deltas.events;
  }

  /** A question that was asked, by its id. */
  asked(questionId: string): AskedQuestion | undefined {
    return this.#asked.get(questionId);
  }

  /** Adds a report of progress, or questions; other envelopes are none. */
  receive({ envelope, digest }: VerifiedEnvelope): void {
    const { from: by } = envelope;
    if (envelope.kind === "progress") {
      this.progress.push({ ...envelope.body, by, attempt: envelope.attempt });
    } else if (envelope.kind === "question") {
      const { attempt, body } = envelope;
      const isPaused = body.state !== undefined;
      for (const question of body.questions) {
        this.#asked.set(question.id, { re: digest, by });
        this.questions.push({ ...question, by, attempt, isPaused });
      }
    }
  }

  /** Adds a piece of what the recipient of a handoff is writing. */
  show(delta: ShownDelta, { to }: HandoffEnvelope): void {
    if (this.#deltas === undefined || this.#isEnded) return;
    if (typeof to !== "string" || delta.by === to) this.#deltas.push(delta);
  }

  end(): void {
    this.#isEnded = true;
    for (const stream of [this.progress, this.questions, this.#deltas]) stream?.end();
  }
}
