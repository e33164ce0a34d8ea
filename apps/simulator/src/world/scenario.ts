import type { Spread } from "../spread/spread-kind.ts";
import type { Random } from "./random.ts";

/** How adverse the world of a seed is, and how much happens in it. */
export interface Scenario {
  readonly hubs: 1 | 2;
  readonly agents: number;
  /** Handoffs that delegators start; children and replays are additional. */
  readonly jobs: number;
  /** From here on nothing fails any more, and the remaining work must end. */
  readonly faultsUntilMs: number;
  readonly network: {
    readonly dropped: number;
    readonly repeated: number;
    /** The share of messages that take much longer than others, so that later ones overtake them. */
    readonly held: number;
    readonly latencyMs: number;
    /** The mean time between breaks of an agent's line. */
    readonly breaksEveryMs: number;
  };
  /** The store: that of the hub in memory, with its journal, or the log of `@waybill/store-sqlite`. */
  readonly storage: "journal" | "log";
  readonly disk: {
    readonly crashes: number;
    readonly errors: number;
    readonly syncMs: number;
  };
  /** The mean time between a process's crashes, besides those at disk calls. */
  readonly crashesEveryMs: number;
  /** How likely it is that an agent leaves for good. */
  readonly leaves: number;
  /** The maximum difference between clocks. */
  readonly skewMs: number;
  readonly terms: {
    readonly offerMs: number;
    readonly graceMs: number;
    readonly backoffMs: number;
    readonly backoffCapMs: number;
  };
  readonly hasDeadLetterAgent: boolean;
  /** The share of agents that run on `@waybill/agent`; the others speak the protocol themselves. */
  readonly realAgents: number;
  /** Of a store that several hubs reach over a network. */
  readonly store: {
    readonly latencyMs: number;
    /** The share of commits whose answer is lost. */
    readonly answersLost: number;
  };
  /** A world that only shows how work is distributed over the agents that fit. */
  readonly spread?: Spread;
  /** The share of capabilities that are restricted. */
  readonly restricted: number;
}

type Mood = "calm" | "rough" | "violent";

export function scenarioOf(random: Random): Scenario {
  const mood = random.weighed<Mood>({ calm: 1, rough: 6, violent: 5 });
  const isCalm = mood === "calm";
  const share = { calm: 0, rough: 1, violent: 3 }[mood];
  const size = random.weighed({ tiny: 3, small: 3, large: 4 });
  return {
    hubs: random.chance(0.45) ? 2 : 1,
    agents: random.between(2, 6),
    jobs: {
      tiny: random.between(1, 6),
      small: random.between(10, 40),
      large: random.between(70, 130),
    }[size],
    faultsUntilMs: random.between(15_000, 120_000),
    network: {
      dropped: share * random.pick([0, 0.005, 0.02]),
      repeated: share * random.pick([0, 0.01, 0.03]),
      held: share * random.pick([0, 0.02, 0.05]),
      latencyMs: random.pick([1, 5, 40]),
      breaksEveryMs: isCalm ? Infinity : random.pick([Infinity, 60_000, 15_000]) / share,
    },
    storage: "journal",
    disk: {
      crashes: share * random.pick([0.001, 0.004, 0.015]),
      errors: share * random.pick([0, 0, 0.002]),
      syncMs: random.pick([0, 1, 5, 30]),
    },
    crashesEveryMs: isCalm ? Infinity : random.pick([Infinity, 60_000, 20_000]) / share,
    leaves: isCalm ? 0 : 0.3,
    skewMs: isCalm || random.chance(0.5) ? 0 : random.pick([50, 1_000, 8_000]),
    terms: {
      offerMs: random.pick([1_000, 3_000, 10_000]),
      graceMs: random.pick([500, 2_000, 5_000]),
      backoffMs: random.pick([50, 500]),
      backoffCapMs: random.pick([2_000, 20_000]),
    },
    hasDeadLetterAgent: random.chance(0.25),
    realAgents: random.pick([0, 0.5, 0.5, 1]),
    store: {
      latencyMs: random.pick([4, 4, 40]),
      answersLost: share * random.pick([0.001, 0.01]),
    },
    restricted: random.pick([0, 0, 0.3, 0.6]),
  };
}

/** A small world in which nothing fails at random. */
export function calmScenarioOf(random: Random): Scenario {
  return {
    ...scenarioOf(random),
    hubs: random.pick([1, 2]),
    agents: 2,
    jobs: random.between(1, 3),
    faultsUntilMs: 15_000,
    network: { dropped: 0, repeated: 0, held: 0, latencyMs: 1, breaksEveryMs: Infinity },
    disk: { crashes: 0, errors: 0, syncMs: 1 },
    crashesEveryMs: Infinity,
    // Without other faults, only the hub's timers can end what waits for an agent that has left.
    leaves: 0.5,
    skewMs: 0,
    store: { latencyMs: 1, answersLost: 0 },
    restricted: 0,
  };
}
