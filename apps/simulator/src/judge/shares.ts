import type { HistoryEntry } from "@waybill/protocol/audit";
import { MEASURED_FIRST, RESTARTED, WORKERS } from "../spread/spread-world.ts";
import type { Spread } from "../spread/spread-kind.ts";
import type { World } from "../world/world.ts";
import type { Found } from "./verdict.ts";

interface Bounds {
  readonly least: number;
  readonly most: number;
}

const EQUAL: Bounds = { least: 0.25, most: 0.45 };
/** About a tenth, with random variation. */
const SLOW: Bounds = { least: 0.03, most: 0.18 };
const RESTARTED_WITHIN_MS = 60_000;

interface CompletedWork {
  readonly by: string;
  readonly at: number;
}

/**
 * Checks whether work was distributed as a seed's world promises. Nothing for worlds without such a
 * promise.
 */
export function unevenShares(world: World, history: readonly HistoryEntry[]): Found[] {
  const { spread } = world.scenario;
  if (spread === undefined) return [];
  const done = history.flatMap((entry): CompletedWork[] =>
    entry.type === "envelope" && entry.envelope.kind === "result"
      ? [{ by: entry.envelope.from, at: entry.at }]
      : [],
  );
  return [...CHECKS[spread](done, world)].map((message) => ({
    rule: "uneven_share",
    handoffId: "",
    message,
  }));
}

const CHECKS: Readonly<Record<Spread, (done: readonly CompletedWork[], world: World) => string[]>> =
  {
    equal: (done) => Object.keys(WORKERS.equal).flatMap((id) => outside(id, done, EQUAL)),
    slow: (done) => outside("worker-2", done.slice(MEASURED_FIRST), SLOW),
    restarted(done, { restart }) {
      const { at: from, isOverAt } = restart!;
      const isNew = ({ at }: CompletedWork) => at > isOverAt && at <= from + RESTARTED_WITHIN_MS;
      const isBack = done.some((each) => each.by === RESTARTED && isNew(each));
      return isBack ? [] : [`${RESTARTED} did nothing within a minute of its restart.`];
    },
  };

function outside(id: string, done: readonly CompletedWork[], { least, most }: Bounds): string[] {
  const count = done.filter(({ by }) => by === id).length;
  const share = count / done.length;
  return share >= least && share <= most
    ? []
    : [`${id} did ${count} of ${done.length}, and ${least} to ${most} of them is its share.`];
}
