// The judge and the planting of bugs read this, so it must not load anything in which a bug may be
// planted.
import type { Scenario } from "../world/scenario.ts";
import type { Spread } from "./spread-kind.ts";

/** Handoffs that are not counted, because the workers' times are measured with them. */
export const MEASURED_FIRST = 16;
const USUAL_MS = 100;
const HELD_MS = 5_000;

/** Worlds without faults, except for what `Spread` names. */
export function spreadScenario(spread: Spread): Partial<Scenario> {
  return {
    spread,
    hubs: 1,
    faultsUntilMs: 1_000,
    network: { dropped: 0, repeated: 0, held: 0, latencyMs: 1, breaksEveryMs: Infinity },
    disk: { crashes: 0, errors: 0, syncMs: 1 },
    crashesEveryMs: Infinity,
    leaves: 0,
    skewMs: 0,
    hasDeadLetterAgent: false,
    store: { latencyMs: 1, answersLost: 0 },
    restricted: 0,
  };
}

/** How long each worker takes. */
export const WORKERS: Readonly<Record<Spread, Readonly<Record<string, number>>>> = {
  equal: { "worker-1": USUAL_MS, "worker-2": USUAL_MS, "worker-3": USUAL_MS },
  slow: { "worker-1": USUAL_MS, "worker-2": 10 * USUAL_MS },
  restarted: { "worker-1": HELD_MS, "worker-2": USUAL_MS },
};

/** The worker that crashes. */
export const RESTARTED = "worker-1";
