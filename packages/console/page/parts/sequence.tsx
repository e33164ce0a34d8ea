import { useState } from "preact/hooks";
import type { JobEvent } from "../hub/job.ts";
import { visible } from "./text.tsx";

const LANE = 190;
const ROW = 34;
const TOP = 46;
const MARGIN = 90;
/** Longer jobs are folded, and unfolded on demand. */
const FOLDED = 60;
const NAME_CHARACTERS = 22;
const SAYS_CHARACTERS = 26;

/** Who handed what to whom, in order: one lane for each agent. */
export function Sequence({ events }: { readonly events: readonly JobEvent[] }) {
  const [count, setCount] = useState(FOLDED);
  const shown = events.slice(0, count);
  const lanes = [...new Set(shown.flatMap(({ from, to }) => [from, to]))].filter(
    (name) => name !== "",
  );
  const x = (name: string) => MARGIN + Math.max(0, lanes.indexOf(name)) * LANE;
  const width = MARGIN * 2 + Math.max(0, lanes.length - 1) * LANE;
  const height = TOP + shown.length * ROW + 20;
  return (
    <>
      <div class="scrolled tall" tabIndex={0} role="region" aria-label="Sequence diagram">
        <svg
          class="sequence"
          width={width}
          height={height}
          viewBox={`0 0 ${width} ${height}`}
          role="img"
          aria-label={`${shown.length} steps between ${lanes.length} agents; the list below has the same steps`}
        >
          {lanes.map((name) => (
            <g key={name}>
              <line class="lane" x1={x(name)} x2={x(name)} y1={TOP - 12} y2={height} />
              <text class="name" x={x(name)} y={20} text-anchor="middle">
                {short(name, NAME_CHARACTERS)}
              </text>
            </g>
          ))}
          {shown.map((event, index) => (
            <Arrow
              key={`${event.sequence} ${event.handoff}`}
              event={event}
              y={TOP + index * ROW + 18}
              x={x}
            />
          ))}
        </svg>
      </div>
      {events.length > count && (
        <p>
          <button type="button" onClick={() => setCount(count * 4)}>
            Show more: {(events.length - count).toLocaleString("en")} steps are folded
          </button>
        </p>
      )}
      <details>
        <summary>The same steps as a list</summary>
        <ol class="steps">
          {shown.map(({ sequence, handoff, from, to, says }) => (
            <li key={`${sequence} ${handoff}`}>
              <bdi>{visible(from)}</bdi>{" "}
              {from !== to && (
                <>
                  to <bdi>{visible(to)}</bdi>
                </>
              )}
              : <bdi>{visible(says)}</bdi>
            </li>
          ))}
        </ol>
      </details>
    </>
  );
}

const HEAD = 6;

function Arrow({
  event: { from, to, says, tone },
  y,
  x,
}: {
  readonly event: JobEvent;
  readonly y: number;
  readonly x: (name: string) => number;
}) {
  const [start, end] = [x(from), x(to)];
  const label = short(says, SAYS_CHARACTERS);
  if (start === end) {
    return (
      <g class={tone}>
        <circle cx={start} cy={y} r={5} />
        <text x={start + 12} y={y + 4}>
          {label}
        </text>
      </g>
    );
  }
  const back = end > start ? -HEAD : HEAD;
  return (
    <g class={tone}>
      <line x1={start} x2={end} y1={y} y2={y} />
      <path d={`M${end} ${y}l${back} ${-HEAD + 2}v${2 * HEAD - 4}z`} />
      <text x={(start + end) / 2} y={y - 6} text-anchor="middle">
        {label}
      </text>
    </g>
  );
}

function short(text: string, length: number): string {
  const whole = visible(text);
  return whole.length > length ? `${whole.slice(0, length - 1)}…` : whole;
}
