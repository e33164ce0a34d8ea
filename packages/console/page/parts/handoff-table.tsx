import { Link } from "wouter-preact";
import { rows, version } from "../hub/feed.ts";
import type { HandoffRow } from "../hub/handoffs.ts";
import { StandingMark } from "./standing.tsx";
import { Id, Text, Time } from "./text.tsx";
import { VirtualList } from "./virtual-list.tsx";

const ROW_HEIGHT = 40;
const HEAD = ["Since", "Handoff", "From", "To", "Capability", "Standing", "What happened last"];

/** The handoffs that the page has read, the newest first. */
export function HandoffTable({
  label,
  wanted,
}: {
  readonly label: string;
  readonly wanted?: (row: HandoffRow) => boolean;
}) {
  void version.value;
  const all = rows.all();
  const found = wanted === undefined ? all : all.filter(wanted);
  const at = (index: number) => found[found.length - 1 - index]!;
  return (
    <VirtualList
      label={label}
      kind="handoffs"
      head={HEAD}
      count={found.length}
      rowHeight={ROW_HEIGHT}
      keyOf={(index) => at(index).id}
      row={(index) => <Cells row={at(index)} />}
      empty="Nothing has been handed off yet."
    />
  );
}

function Cells({ row }: { readonly row: HandoffRow }) {
  return (
    <>
      <span role="cell">
        <Time at={row.startedAt} />
      </span>
      <span role="cell">
        <Link href={`/handoffs/${row.id}`}>
          <Id value={row.id} />
        </Link>
      </span>
      <span role="cell">
        <Text value={row.from} />
      </span>
      <span role="cell">{row.to === "" ? "anybody who can" : <Text value={row.to} />}</span>
      <span role="cell">
        <Text value={row.capability} />
      </span>
      <span role="cell">
        <StandingMark standing={row.standing} />
      </span>
      <span role="cell">
        <Text value={row.says} />
      </span>
    </>
  );
}
