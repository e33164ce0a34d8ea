import { useEffect, useMemo, useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { connection, onEntry, rows } from "../hub/feed.ts";
import { JobReader } from "../hub/job.ts";
import type { Job as JobRead } from "../hub/job.ts";
import { Problem, useLoaded } from "../parts/loaded.tsx";
import { Sequence } from "../parts/sequence.tsx";
import { Id, Text } from "../parts/text.tsx";
import { Timeline } from "../parts/timeline.tsx";

/** Everything that was handed off for one job. */
export function Job({ params: { id = "" } }: { readonly params: { readonly id?: string } }) {
  return <JobOf key={id} id={id} />;
}

const SETTLE_MS = 250;

function JobOf({ id }: { readonly id: string }) {
  const reader = useMemo(() => new JobReader(id), [id]);
  const [news, setNews] = useState(0);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const unsubscribe = onEntry(({ handoff_id: handoff }) => {
      if (handoff === null || rows.get(handoff)?.correlationId !== id) return;
      timer ??= setTimeout(() => {
        timer = undefined;
        setNews((each) => each + 1);
      }, SETTLE_MS);
    });
    return () => {
      unsubscribe();
      clearTimeout(timer);
    };
  }, [id]);
  const isLive = connection.value.type === "live";
  const { value, problem } = useLoaded((signal) => reader.read(signal), [reader, news, isLive]);
  return (
    <>
      <h1>
        Job <Id value={id} full />
      </h1>
      <Problem>{problem}</Problem>
      {value === undefined ? (
        problem === undefined && <p class="empty">Reading…</p>
      ) : value.handoffs.length === 0 ? (
        <p class="empty">There is no such job.</p>
      ) : (
        <Shown job={value} />
      )}
    </>
  );
}

function Shown({ job }: { readonly job: JobRead }) {
  const [words, setWords] = useState("");
  const wanted = words.toLowerCase().trim();
  const handoffs = job.handoffs.filter(
    ({ id, capability, attempts, state }) =>
      wanted === "" ||
      [id, capability, state, ...attempts.map(({ recipient }) => recipient)]
        .join("\n")
        .toLowerCase()
        .includes(wanted),
  );
  const ids = new Set(handoffs.map(({ id }) => id));
  const open = job.handoffs.filter(({ state }) => state === "open").length;
  const tokens = job.handoffs
    .flatMap(({ usage }) => usage)
    .reduce((sum, row) => sum + (row.input_tokens ?? 0) + (row.output_tokens ?? 0), 0);
  const costs = costsOf(job);
  return (
    <>
      <p class="note">
        {job.handoffs.length} {job.handoffs.length === 1 ? "handoff" : "handoffs"}, {open} open
        {tokens > 0 && `, ${tokens.toLocaleString("en")} tokens reported`}
        {costs !== "" && `, ${costs}`}. Open a handoff to check its signatures.
      </p>
      {job.handoffs.length > 1 && (
        <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
          <label>
            Contains{" "}
            <input
              type="search"
              value={words}
              placeholder="an agent, a capability, an id"
              onInput={(event) => setWords(event.currentTarget.value)}
            />
          </label>
          <span role="status">
            {handoffs.length} of {job.handoffs.length}
          </span>
        </form>
      )}
      <section aria-labelledby="sequence">
        <h2 id="sequence">Who handed what to whom</h2>
        <Sequence events={job.events.filter(({ handoff }) => ids.has(handoff))} />
      </section>
      <section aria-labelledby="timeline">
        <h2 id="timeline">Timeline</h2>
        <Timeline handoffs={handoffs} />
      </section>
      <section aria-labelledby="handoffs">
        <h2 id="handoffs">Handoffs</h2>
        <div class="scrolled tall" tabIndex={0} role="region" aria-labelledby="handoffs">
          <table>
            <thead>
              <tr>
                <th>Handoff</th>
                <th>Capability</th>
                <th>Part of</th>
                <th>Recipients</th>
                <th>State</th>
              </tr>
            </thead>
            <tbody>
              {handoffs.map(({ id, capability, parent, attempts, state }) => (
                <tr key={id}>
                  <td>
                    <Link href={`/handoffs/${id}`}>
                      <Id value={id} />
                    </Link>
                  </td>
                  <td>
                    <Text value={capability} />
                  </td>
                  <td>{parent === undefined ? "–" : <Id value={parent} />}</td>
                  <td>
                    <Text
                      value={
                        attempts.map(({ recipient }) => recipient).join(", then ") || "nobody yet"
                      }
                    />
                  </td>
                  <td>{state.replaceAll("_", " ")}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </section>
    </>
  );
}

function costsOf({ handoffs }: JobRead): string {
  const sums = new Map<string, number>();
  for (const { cost } of handoffs.flatMap(({ usage }) => usage)) {
    if (cost === undefined) continue;
    sums.set(cost.currency, (sums.get(cost.currency) ?? 0) + Number(cost.amount));
  }
  return [...sums].map(([currency, sum]) => `${sum.toFixed(4)} ${currency}`).join(", ");
}
