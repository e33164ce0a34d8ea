import type { Random } from "../world/random.ts";

export type Opening = "ignore" | "reject" | "release" | "work";
export type Step = "rest" | "progress" | "ask" | "effect" | "child" | "impostor" | "twins";
export type Finish =
  | "complete"
  | "fail"
  | "fail_for_now"
  | "interrupted"
  | "release"
  | "pause"
  | "fall_silent"
  | "only_beat";

/** How a recipient will behave in one attempt. */
export interface Behaviour {
  readonly opening: Opening;
  readonly says: { readonly taken: boolean; readonly accepted: boolean };
  /** Before the signed acceptance. */
  readonly acceptsAfterMs: number;
  readonly steps: readonly Step[];
  readonly finish: Finish;
  readonly beats: boolean;
  /** Continues after it is told to stop, like a framework that can't be aborted. */
  readonly ignoresStop: boolean;
}

/**
 * After this many attempts every recipient succeeds, so that a dead letter is only one of the
 * possible ends.
 */
const PATIENT_ATTEMPTS = 4;

export function behaviourOf(random: Random, attempt: number): Behaviour {
  const isTame = attempt > PATIENT_ATTEMPTS;
  const opening: Opening = isTame
    ? "work"
    : random.weighed({ ignore: 4, reject: 4, release: 5, work: 87 });
  const step = (): Step =>
    random.weighed({
      rest: 5,
      progress: 3,
      ask: 1,
      effect: 3,
      child: 1.2,
      impostor: 0.4,
      twins: 0.4,
    });
  const finish: Finish = isTame
    ? "complete"
    : random.weighed({
        complete: 70,
        fail: 5,
        fail_for_now: 8,
        interrupted: 3,
        release: 3,
        pause: 5,
        fall_silent: 4,
        only_beat: 2,
      });
  return {
    opening,
    says: { taken: random.chance(0.9), accepted: random.chance(0.85) },
    acceptsAfterMs: random.chance(0.8) ? random.between(0, 50) : random.spread(50, 8_000),
    steps: Array.from({ length: random.below(5) }, step),
    finish,
    beats: random.chance(0.85),
    ignoresStop: random.chance(0.2),
  };
}
