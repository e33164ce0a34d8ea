import type { StoryEvent } from "../story/event.ts";
import { shortened } from "./lines.ts";
import type { Paint } from "./style.ts";

const NAME_WIDTH = 28;
const END_WIDTH = 9;

type Part = "waits" | "works" | "lost" | "asks";

/** The parts of a bar, readable without colours. */
const PARTS = {
  waits: { sign: "·", color: "dim" },
  works: { sign: "━", color: "green" },
  lost: { sign: "╳", color: "red" },
  asks: { sign: "?", color: "yellow" },
} as const satisfies Readonly<Record<Part, { sign: string; color: string }>>;

interface Row {
  readonly about: string;
  readonly startedAt: number;
  endedAt: number;
  isGood: boolean;
  readonly by: Set<string>;
  readonly spans: { part: Part; from: number; to: number }[];
}

/** A line for each handoff: when it waited, who worked on it, and how it ended. */
export function waterfall(events: readonly StoryEvent[], width: number, paint: Paint): string[] {
  const rows = rowsOf(events);
  const start = Math.min(...rows.map(({ startedAt }) => startedAt));
  const end = Math.max(...rows.map(({ endedAt }) => endedAt));
  const room = width - NAME_WIDTH - END_WIDTH;
  const column = (at: number) =>
    Math.min(room - 1, Math.floor(((at - start) / Math.max(1, end - start)) * room));
  return rows.map(({ about, by, startedAt, endedAt, isGood, spans }) => {
    const cells = Array.from({ length: room }, () => " ");
    // However short a question was open, it stays visible.
    const inOrder = spans.toSorted((a, b) => Number(a.part === "asks") - Number(b.part === "asks"));
    for (const { part, from, to } of inOrder) {
      const { sign, color } = PARTS[part];
      cells.fill(paint(sign, color), column(from), column(to) + 1);
    }
    const took = `${((endedAt - startedAt) / 1000).toFixed(1)} s`;
    const name = shortened(`${about} → ${[...by].join(", ")}`, NAME_WIDTH - 1).padEnd(NAME_WIDTH);
    return `${name}${cells.join("")} ${isGood ? paint("✔", "green") : paint("✗", "red")} ${took.padStart(6)}`;
  });
}

function rowsOf(events: readonly StoryEvent[]): readonly Row[] {
  const rows = new Map<string, Row>();
  for (const { handoff_id: id, event, at, tone, about = "", who, to } of events) {
    if (id === undefined) continue;
    if (event === "handed_off" || event === "replayed") {
      const spans: Row["spans"] = [{ part: "waits", from: at, to: at }];
      rows.set(id, { about, startedAt: at, endedAt: at, isGood: false, by: new Set(), spans });
      continue;
    }
    const row = rows.get(id);
    const part = row?.spans.at(-1);
    if (row === undefined || part === undefined) continue;
    const go = (next: Part) => {
      part.to = at;
      row.spans.push({ part: next, from: at, to: at });
    };
    if (event === "offered" && to !== undefined) {
      row.by.add(to);
      go("works");
    } else if (event === "question" && row.by.has(who)) go("asks");
    else if (event === "lease_lost" || event === "dead_lettered") {
      part.part = "lost";
      go("waits");
    }
    if (event === "result" || event === "dead_lettered" || event === "cancelled") {
      part.to = at;
      row.endedAt = at;
      row.isGood = event === "result" && tone === "good";
    }
  }
  return [...rows.values()];
}
