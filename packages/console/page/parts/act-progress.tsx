import { Link } from "wouter-preact";
import { progress, stopActing } from "../operator/bulk.ts";
import type { Progress } from "../operator/bulk.ts";
import { Id, Text } from "./text.tsx";

const IDS_SHOWN = 20;

/** How far the act on many dead letters is, and what failed. */
export function ActProgress() {
  const { value } = progress;
  if (value === undefined) return null;
  const { what, of, done, before, failed, isOver, isStopped } = value;
  const failures = failed.reduce((sum, { ids }) => sum + ids.length, 0);
  const text = (count: number) => count.toLocaleString("en");
  return (
    <section class="progress" aria-label="Progress">
      <p class="acts">
        <progress max={of} value={done + before + failures} aria-label={`How many are ${what}`} />
        <span role="status">
          {text(done)} of {text(of)} {what}
          {before > 0 && `, ${text(before)} were before`}
          {failures > 0 && `, ${text(failures)} failed`}
          {isOver && isStopped && ", stopped"}
          {isOver ? ` in ${seconds(value)} s` : `, ${rateOf(value)} a second`}
        </span>
        {isOver ? (
          <button type="button" onClick={() => (progress.value = undefined)}>
            Close
          </button>
        ) : (
          <button type="button" onClick={stopActing}>
            Stop
          </button>
        )}
      </p>
      {failed.map(({ why, ids }) => (
        <div class="problem" key={why}>
          <p>
            {text(ids.length)} failed: <Text value={why} />
          </p>
          <details>
            <summary>Which</summary>
            <ul>
              {ids.slice(0, IDS_SHOWN).map((id) => (
                <li key={id}>
                  <Link href={`/dead-letters/${id}`}>
                    <Id value={id} full />
                  </Link>
                </li>
              ))}
              {ids.length > IDS_SHOWN && <li>and {text(ids.length - IDS_SHOWN)} more</li>}
            </ul>
          </details>
        </div>
      ))}
    </section>
  );
}

function rateOf({ done, before, failed, tookMs }: Progress): string {
  const count = failed.reduce((sum, { ids }) => sum + ids.length, done + before);
  return Math.round((count / Math.max(1, tookMs)) * 1_000).toLocaleString("en");
}

function seconds({ tookMs }: Progress): string {
  return (tookMs / 1_000).toFixed(1);
}
