export type Tone = "step" | "good" | "bad" | "warning";

/** One event, in words. */
export interface StoryEvent {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly who: string;
  readonly event: EventName;
  readonly says: string;
  readonly tone: Tone;
  /** Its subject: `question 3`. */
  readonly about?: string | undefined;
  readonly handoff_id?: string | undefined;
  readonly status?: number | undefined;
  /** The agent to which an attempt is offered. */
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
  /** Progress that describes a step, and not streamed text. */
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
