import { useState } from "preact/hooks";
import type { JobAttempt, JobHandoff } from "../hub/job.ts";
import { durationText, useNow, visible } from "./text.tsx";

const ROW = 30;
const NAMES = 190;
const WIDTHS = [760, 1_500, 3_000, 6_000] as const;
const FOLDED = 60;

/** When each attempt ran, with the deadline of each handoff as a line. */
export function Timeline({ handoffs }: { readonly handoffs: readonly JobHandoff[] }) {
  const at = useNow();
  const [zoom, setZoom] = useState(0);
  const [count, setCount] = useState(FOLDED);
  const shown = handoffs.slice(0, count);
  const isOpen = shown.some(({ until }) => until === undefined);
  const begin = Math.min(...shown.map(({ from }) => from));
  const ended = Math.max(...shown.map(({ until, from }) => until ?? from));
  const end = Math.max(isOpen ? at : ended, begin + 1);
  // A deadline that is near is in the picture, and one that is far away is not.
  const last = begin + (end - begin) * 1.15;
  const width = WIDTHS[zoom]!;
  const x = (time: number) => NAMES + ((time - begin) / (last - begin)) * (width - NAMES - 10);
  const height = shown.length * ROW + 34;
  return (
    <>
      <div class="filters">
        <button type="button" disabled={zoom === 0} onClick={() => setZoom(zoom - 1)}>
          Zoom out
        </button>
        <button
          type="button"
          disabled={zoom === WIDTHS.length - 1}
          onClick={() => setZoom(zoom + 1)}
        >
          Zoom in
        </button>
        <span>{durationText(end - begin)} in all</span>
      </div>
      <div class="scrolled tall" tabIndex={0} role="region" aria-label="Timeline of attempts">
        <svg
          class="timeline"
          width={width}
          height={height}
          viewBox={`0 0 ${width} ${height}`}
          role="img"
          aria-label={`Attempts of ${shown.length} handoffs over ${durationText(end - begin)}; the table below names their recipients`}
        >
          {[0, 0.25, 0.5, 0.75, 1].map((share) => {
            const time = begin + (end - begin) * share;
            return (
              <g key={share}>
                <line class="grid" x1={x(time)} x2={x(time)} y1={18} y2={height} />
                <text class="tick" x={x(time)} y={12} text-anchor="middle">
                  +{durationText(time - begin)}
                </text>
              </g>
            );
          })}
          {shown.map((handoff, index) => {
            const y = 24 + index * ROW;
            const { id, capability, deadline, from, until, attempts } = handoff;
            const isShown = deadline <= last && (until === undefined || deadline <= until + 1);
            return (
              <g key={id}>
                <text class="name" x={0} y={y + 18}>
                  {visible(capability).slice(0, 14)} …{id.slice(-6)}
                </text>
                <rect
                  class="span"
                  x={x(from)}
                  y={y + 13}
                  width={Math.max(1, x(until ?? at) - x(from))}
                  height={3}
                />
                {attempts.map((attempt) => (
                  <Bar key={attempt.number} attempt={attempt} y={y} x={x} at={at} />
                ))}
                {isShown && (
                  <line
                    class="deadline"
                    x1={x(deadline)}
                    x2={x(deadline)}
                    y1={y}
                    y2={y + ROW - 4}
                  />
                )}
                {until === undefined && !isShown && (
                  <text class="tick" x={x(at) + 6} y={y + 18}>
                    {deadline > at ? `${durationText(deadline - at)} left` : "out of time"}
                  </text>
                )}
              </g>
            );
          })}
        </svg>
      </div>
      {handoffs.length > count && (
        <p>
          <button type="button" onClick={() => setCount(count * 4)}>
            Show more: {(handoffs.length - count).toLocaleString("en")} handoffs are folded
          </button>
        </p>
      )}
    </>
  );
}

function Bar({
  attempt: { recipient, from, until, tone, says, number },
  y,
  x,
  at,
}: {
  readonly attempt: JobAttempt;
  readonly y: number;
  readonly x: (time: number) => number;
  readonly at: number;
}) {
  const width = Math.max(3, x(until ?? Math.max(at, from)) - x(from));
  return (
    <g class={tone}>
      <rect class="bar" x={x(from)} y={y + 5} width={width} height={19} rx={4} />
      <title>{`Attempt ${number}, ${visible(recipient)}: ${says}`}</title>
      {width > 60 && (
        <text class="who" x={x(from) + 6} y={y + 19}>
          {visible(recipient).slice(0, Math.floor(width / 9))}
        </text>
      )}
    </g>
  );
}
