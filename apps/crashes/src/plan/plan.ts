import { pick, randomFrom } from "./random.ts";

export const HUB = "hub";
export const DELEGATOR = "delegator";
const RECIPIENTS = ["anna", "bert", "cleo"] as const;

/** The kinds of work, with the share of each. */
const KINDS = {
  plain: 30,
  slow: 20,
  /** Asks a question during the work, and waits for the answer. */
  question: 12,
  /** Ends its attempt with a question, and continues from its state in another process or life. */
  pause: 10,
  /** Fails once after its effect, and may be retried. */
  flaky: 12,
  /** Hands off three children. */
  family: 12,
  /** Never done by its deadline. */
  late: 4,
} as const;

export type Kind = keyof typeof KINDS;

export interface Task {
  readonly index: number;
  readonly kind: Kind;
  /** How long the work itself takes. */
  readonly workMs: number;
  readonly timeoutMs: number;
  /** Undefined: any agent with the capability. */
  readonly to: string | undefined;
}

export interface Kill {
  readonly target: string;
  /** Handed off after this many handoffs have ended, plus a delay. */
  readonly afterEnds: number;
  readonly delayMs: number;
}

export interface Plan {
  readonly seed: number;
  readonly topology: Topology;
  readonly tasks: readonly Task[];
  readonly kills: readonly Kill[];
}

/** Where the hub runs: in its own process, or in that of the first recipient. */
export type Topology = "hub_apart" | "hub_inside";

interface Household {
  readonly hubServes: readonly string[];
  readonly recipients: readonly string[];
  /** The processes to kill, with the share of each. */
  readonly targets: Readonly<Record<string, number>>;
}

export const TOPOLOGIES: Readonly<Record<Topology, Household>> = {
  hub_apart: {
    hubServes: [],
    recipients: RECIPIENTS,
    targets: { [HUB]: 4, [DELEGATOR]: 3, anna: 2, bert: 2, cleo: 2 },
  },
  hub_inside: {
    hubServes: RECIPIENTS.slice(0, 1),
    recipients: RECIPIENTS.slice(1),
    targets: { [HUB]: 5, [DELEGATOR]: 3, bert: 2, cleo: 2 },
  },
};

/**
 * Longer than any run, however slow its machine and whatever its kills cost: a handoff that is never
 * done keeps its run from ending, and is found that way.
 */
const TIMEOUT_MS = 1_800_000;
const LATE_TIMEOUT_MS = 3_000;
/** The last kills happen while there is still work to disturb. */
const KILLS_UNTIL = 0.9;

export function tasksFrom(seed: number, handoffs: number): readonly Task[] {
  const random = randomFrom(seed);
  return Array.from({ length: handoffs }, (_, index): Task => {
    const kind = pick(KINDS, random);
    const workMs = Math.round(kind === "slow" ? 200 + 1_800 * random() : 30 * random());
    const name = RECIPIENTS[Math.floor(random() * RECIPIENTS.length)];
    const to = random() < 0.25 ? name : undefined;
    const timeoutMs = kind === "late" ? LATE_TIMEOUT_MS : TIMEOUT_MS;
    return { index, kind, workMs, timeoutMs, to };
  });
}

/** The seed determines what is handed off, and who is killed when; the outcome depends on the machine. */
export function planFrom(
  seed: number,
  handoffs: number,
  kills: number,
  topology: Topology = "hub_apart",
): Plan {
  const tasks = tasksFrom(seed, handoffs);
  const random = randomFrom(~seed);
  const { targets } = TOPOLOGIES[topology];
  const all = Array.from({ length: kills }, (): Kill => {
    const target = pick(targets, random);
    const afterEnds = Math.floor(random() * KILLS_UNTIL * handoffs);
    return { target, afterEnds, delayMs: Math.round(random() * 150) };
  });
  return { seed, topology, tasks, kills: all.toSorted((a, b) => a.afterEnds - b.afterEnds) };
}
