import type { HandoffEnvelope } from "@waybill/protocol";
import { useEffect, useMemo, useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { connection, onEntry } from "../hub/feed.ts";
import { RecordReader } from "../hub/record.ts";
import type { HandoffRecord } from "../hub/record.ts";
import { Problem, useLoaded } from "../parts/loaded.tsx";
import { StatusText } from "../parts/standing.tsx";
import { Deadline } from "../parts/deadline.tsx";
import { HandoffFacts } from "../parts/handoff-facts.tsx";
import { Id, Text } from "../parts/text.tsx";
import { Contracts } from "../parts/contracts.tsx";
import { Entries } from "../parts/entries.tsx";
import { Work } from "../parts/work.tsx";

/** One handoff: its work, its attempts, and its record with every signature checked. */
export function Handoff({ params: { id = "" } }: { readonly params: { readonly id?: string } }) {
  // Nothing of another handoff is shown under this one's id.
  return <HandoffOf key={id} id={id} />;
}

function HandoffOf({ id }: { readonly id: string }) {
  const reader = useMemo(() => new RecordReader(id), [id]);
  const [news, setNews] = useState(0);
  useEffect(() => onEntry((entry) => entry.handoff_id === id && setNews((each) => each + 1)), [id]);
  // After the hub was away, something may have happened meanwhile.
  const isLive = connection.value.type === "live";
  const { value, problem } = useLoaded((signal) => reader.read(signal), [reader, news, isLive]);
  return (
    <>
      <h1>
        Handoff <Id value={id} full />
      </h1>
      <Problem>{problem}</Problem>
      {value === undefined ? (
        problem === undefined && <p class="empty">Reading and checking…</p>
      ) : (
        <Shown record={value} />
      )}
    </>
  );
}

function Shown({ record }: { readonly record: HandoffRecord }) {
  const { view, entries } = record;
  const first = entries.find(({ envelope }) => envelope?.kind === "handoff")?.envelope as
    | HandoffEnvelope
    | undefined;
  const results = entries.flatMap(({ envelope, verdict }) =>
    envelope?.kind === "result" ? [{ result: envelope, verdict }] : [],
  );
  const last = results.at(-1)?.result;
  return (
    <>
      <Trusted record={record} />
      <HandoffFacts view={view} handoff={first}>
        <dt>Deadline</dt>
        <dd>
          <Deadline at={Date.parse(view.deadline)} isOpen={view.state === "open"} />
        </dd>
      </HandoffFacts>
      {view.state === "dead_lettered" && (
        <p>
          <Link href={`/dead-letters/${view.id}`}>Look into this dead letter, and replay it</Link>
        </p>
      )}
      {first !== undefined && <Work title="Work" body={first.body} />}
      <section aria-labelledby="attempts">
        <h2 id="attempts">Attempts</h2>
        {view.attempts.length === 0 ? (
          <p class="empty">Nobody was asked yet.</p>
        ) : (
          <div class="scrolled" tabIndex={0} role="region" aria-labelledby="attempts">
            <table>
              <thead>
                <tr>
                  <th>Attempt</th>
                  <th>Recipient</th>
                  <th>State</th>
                  <th>Status</th>
                </tr>
              </thead>
              <tbody>
                {view.attempts.map(({ number, recipient, state, closed, status }) => (
                  <tr key={number}>
                    <td>{number}</td>
                    <td>
                      <Text value={recipient} />
                    </td>
                    <td>{closed === null ? state : `${state}: ${closed.replaceAll("_", " ")}`}</td>
                    <td>
                      <StatusText status={status} />
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
        {view.waits_for !== undefined && view.waits_for.length > 0 && (
          <>
            <h3>Waits for</h3>
            <ul>
              {view.waits_for.map(({ agent_id: agent, reason }) => (
                <li key={agent}>
                  <Text value={agent} /> <Text value={reason} />
                </li>
              ))}
            </ul>
          </>
        )}
      </section>
      {last !== undefined && <Work title="Result" body={last.body} />}
      <Contracts contracts={record.contracts} />
      <section aria-labelledby="record">
        <h2 id="record">Record</h2>
        <Entries entries={entries} hub={record.hub} />
      </section>
    </>
  );
}

/** The verdict over everything on the page. */
export function Trusted({
  record: { entries, problems, view },
}: {
  readonly record: HandoffRecord;
}) {
  const signed = entries.filter(({ verdict }) => verdict.type !== "unsigned");
  const broken = signed.filter(({ verdict }) => verdict.type === "broken");
  const withheld = withheldOf(view, entries);
  if (broken.length === 0 && problems.size === 0 && withheld === undefined) {
    return (
      <p class="verdict good" role="status">
        <span aria-hidden="true">✓</span> All {signed.length} signatures hold. They were checked
        here, in this browser, with the keys in the agents' manifests.
      </p>
    );
  }
  return (
    <div class="verdict bad" role="alert">
      <p>
        <span aria-hidden="true">✗</span>{" "}
        <strong>Do not rely on this page: what the hub shows does not hold.</strong>
      </p>
      <ul>
        {broken.map(({ entry, verdict }) => (
          <li key={entry.sequence}>
            Entry {entry.sequence}: {verdict.type === "broken" && <Text value={verdict.why} />}
          </li>
        ))}
        {[...problems].map(([agent, why]) => (
          <li key={agent}>
            <Text value={agent} />: <Text value={why} />
          </li>
        ))}
        {withheld !== undefined && <li>{withheld}</li>}
      </ul>
    </div>
  );
}

/** A hub could say "completed" without the result that its recipient signed. */
function withheldOf(
  { state }: HandoffRecord["view"],
  entries: HandoffRecord["entries"],
): string | undefined {
  const kinds = entries.flatMap(({ envelope, verdict }) =>
    envelope !== undefined && verdict.type === "checked" ? [envelope] : [],
  );
  if (!kinds.some(({ kind }) => kind === "handoff")) {
    return "There is no envelope of its delegator that holds.";
  }
  const isDone = kinds.some((each) => each.kind === "result" && each.body.status === 200);
  if (state === "completed" && !isDone) {
    return "The hub says that it is completed, and no recipient has signed a result.";
  }
  return undefined;
}
