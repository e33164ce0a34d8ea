import type { Case, Group } from "../group.ts";
import { inFlight } from "../custody/lane.ts";
import { openInMemory } from "../custody/ours.ts";
import type { OurLane } from "../custody/ours.ts";

const WIDTH = 64;
const MEMBERS = 100;
const AGENTS = 1_000;

const NAMES = {
  one: "one agent offers it",
  some: "64 agents offer it",
  many: "1,000 agents offer it",
  alone: "100 handoffs, each by itself",
  fanOut: "100 handoffs, as members of one group",
} as const;

/** The cost of a handoff that many agents could take, or that is one of many. Processor time, in memory. */
export function breadth(agents: number = AGENTS): Group {
  return {
    cases: [
      onLane(NAMES.one, 4 * WIDTH, 1, (lane, operations) => inFlight(lane, operations, WIDTH)),
      onLane(NAMES.some, 4 * WIDTH, Math.min(agents, WIDTH), (lane, operations) =>
        inFlight(lane, operations, WIDTH),
      ),
      onLane(NAMES.many, 4 * WIDTH, agents, (lane, operations) =>
        inFlight(lane, operations, WIDTH),
      ),
      onLane(NAMES.alone, MEMBERS, 1, (lane, operations) => inFlight(lane, operations, MEMBERS)),
      onLane(NAMES.fanOut, MEMBERS, 1, async (lane, operations) => {
        for (let first = 0; first < operations; first += MEMBERS) {
          await lane.doGroup(first, MEMBERS);
        }
        await lane.settle();
      }),
    ],
    ratios: [
      {
        name: "breadth_agents",
        compares: "time",
        of: NAMES.many,
        to: NAMES.one,
        meaning:
          "time of a handoff that 1,000 agents could take, by that of one that only one could",
        wanted: "<= 1.2",
      },
      {
        name: "breadth_agents_64",
        compares: "time",
        of: NAMES.many,
        to: NAMES.some,
        meaning: "the same by that of one that 64 could, whose results share no signature either",
      },
      {
        name: "breadth_fan_out",
        compares: "time",
        of: NAMES.fanOut,
        to: NAMES.alone,
        meaning: "time of a member of a fan-out of 100, by that of a handoff by itself",
        wanted: "<= 1.3",
      },
    ],
  };
}

function onLane(
  name: string,
  opsPerRun: number,
  recipients: number,
  run: (lane: OurLane, operations: number) => Promise<void>,
): Case {
  let lane: OurLane | undefined;
  return {
    name,
    opsPerRun,
    isComputing: true,
    async prepare() {
      lane = await openInMemory({ recipients });
    },
    run: (operations) => run(lane!, operations),
    dispose: () => lane?.close(),
  };
}
