export type Tone = "step" | "good" | "bad" | "warning";

/** One thing that happened, in words. */
export interface StoryEvent {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly who: string;
  readonly event: EventName;
  readonly says: string;
  readonly tone: Tone;
  /** What it is about: `question 3`. */
  readonly about?: string | undefined;
  readonly handoff_id?: string | undefined;
  readonly status?: number | undefined;
  /** Who an attempt is offered to. */
  readonly to?: string | undefined;
  /** The signature of `who`, checked with the keys in its manifest. */
  readonly is_signed?: boolean | undefined;
  /** The hub has signed that it has this on disk. */
  readonly has_receipt?: boolean | undefined;
}

export type EventName =
  | "joined"
  | "handed_off"
  | "replayed"
  | "offered"
  | "accepted"
  | "progress"
  /** A progress in which somebody tells a step of its own, and not words that are being said. */
  | "step"
  | "question"
  | "answer"
  | "result"
  | "cancelled"
  | "acknowledged"
  | "lease_lost"
  | "dead_lettered"
  | "told"
  | "killed"
  | "refused";
