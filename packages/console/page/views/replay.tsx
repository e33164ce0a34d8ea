import { WaybillError } from "@waybill/protocol";
import type { HandoffEnvelope } from "@waybill/protocol";
import type { WireFound } from "@waybill/protocol/wire";
import { lazy, Suspense } from "preact/compat";
import { useEffect, useMemo, useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { attemptsOf } from "../hub/attempts.ts";
import type { AttemptRow } from "../hub/attempts.ts";
import { connection, onEntry } from "../hub/feed.ts";
import { get, post } from "../hub/hub.ts";
import { RecordReader } from "../hub/record.ts";
import type { HandoffRecord } from "../hub/record.ts";
import { session } from "../hub/session.ts";
import { replay } from "../operator/acts.ts";
import { checkInput } from "../operator/input-check.ts";
import type { InputProblem } from "../operator/input-check.ts";
import { operatorKey, operatorPost } from "../operator/key.ts";
import { replayId } from "../operator/replay.ts";
import { secondsIn, TimeField } from "../parts/dead-letter-acts.tsx";
import { FoundTables } from "../parts/find-playground.tsx";
import { HandoffFacts, Related } from "../parts/handoff-facts.tsx";
import { Problem, useLoaded } from "../parts/loaded.tsx";
import { OperatorKeyPanel } from "../parts/operator-key.tsx";
import { StatusText } from "../parts/standing.tsx";
import { durationText, escapedJson, Id, Text, Time } from "../parts/text.tsx";
import { proofBy } from "../trust/browser-key.ts";
import { Trusted } from "./handoff.tsx";

// The editor is larger than the rest of the page.
const JsonEditor = lazy(() => import("../parts/json-editor.tsx").then((part) => part.JsonEditor));

/** How many earlier handoffs of the same work are compared. */
const EARLIER_AT_MOST = 5;

/** One dead letter: what its attempts came to, and the work to correct and hand off again. */
export function Replay({ params: { id = "" } }: { readonly params: { readonly id?: string } }) {
  return <ReplayOf key={id} id={id} />;
}

function ReplayOf({ id }: { readonly id: string }) {
  const [news, setNews] = useState(0);
  useEffect(() => onEntry((entry) => entry.handoff_id === id && setNews((each) => each + 1)), [id]);
  const isLive = connection.value.type === "live";
  const reader = useMemo(() => new RecordReader(id), [id]);
  const { value, problem } = useLoaded((signal) => reader.read(signal), [reader, news, isLive]);
  return (
    <>
      <h1>
        Dead letter <Id value={id} full />
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

/** The signed handoff of a record, if its signature holds. */
function originalIn({ entries }: HandoffRecord): HandoffEnvelope | undefined {
  const found = entries.find(
    ({ envelope, verdict }) => envelope?.kind === "handoff" && verdict.type === "checked",
  );
  return found?.envelope as HandoffEnvelope | undefined;
}

function Shown({ record }: { readonly record: HandoffRecord }) {
  const { view, entries } = record;
  const original = originalIn(record);
  const isOperator = session.value?.role === "operator";
  const decisions = entries.flatMap(({ entry }) =>
    entry.type === "decision"
      ? [JSON.parse(entry.content) as { readonly type: string; readonly by?: string }]
      : [],
  );
  const replayedBy = decisions.find(({ type }) => type === "replayed")?.by;
  const isDiscarded = decisions.some(({ type }) => type === "discard");
  return (
    <>
      <Trusted record={record} />
      <HandoffFacts view={view} handoff={original} isDiscarded={isDiscarded}>
        <dt>Record</dt>
        <dd>
          <Link href={`/handoffs/${view.id}`}>All that is on record</Link>
        </dd>
        {replayedBy !== undefined && <Related name="Replayed as" id={replayedBy} />}
      </HandoffFacts>
      <Compared record={record} original={original} />
      {view.state === "dead_lettered" && original !== undefined && replayedBy === undefined && (
        <>
          <OperatorKeyPanel />
          {isOperator ? (
            <Again original={original} />
          ) : (
            <p class="note">Only an operator can replay dead letters.</p>
          )}
        </>
      )}
    </>
  );
}

/** The attempts of this handoff and of those that it replays. */
function Compared({
  record,
  original,
}: {
  readonly record: HandoffRecord;
  readonly original: HandoffEnvelope | undefined;
}) {
  const earlier = useLoaded(
    (signal) => earlierThan(original?.replay_of, signal),
    [original?.replay_of],
  );
  const rows = [...attemptsOf(record), ...(earlier.value ?? [])];
  return (
    <section aria-labelledby="attempts">
      <h2 id="attempts">Attempts</h2>
      <Problem>{earlier.problem}</Problem>
      {rows.length === 0 ? (
        <p class="empty">It was offered to nobody.</p>
      ) : (
        <div class="scrolled" tabIndex={0} role="region" aria-labelledby="attempts">
          <table>
            <thead>
              <tr>
                <th>Handoff</th>
                <th>Attempt</th>
                <th>Recipient</th>
                <th>Offered</th>
                <th>Took</th>
                <th>Ended</th>
                <th>What it said</th>
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => (
                <AttemptLine
                  key={`${row.handoff} ${row.number}`}
                  row={row}
                  isThis={row.handoff === record.view.id}
                />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

function AttemptLine({ row, isThis }: { readonly row: AttemptRow; readonly isThis: boolean }) {
  const { handoff, number, recipient, offeredAt, tookMs, state, status, says } = row;
  return (
    <tr>
      <td>
        {isThis ? (
          "this one"
        ) : (
          <Link href={`/handoffs/${handoff}`}>
            <Id value={handoff} />
          </Link>
        )}
      </td>
      <td>{number}</td>
      <td>
        <Text value={recipient} />
      </td>
      <td>{offeredAt === undefined ? "unknown" : <Time at={offeredAt} />}</td>
      <td>{tookMs === undefined ? "unknown" : durationText(tookMs)}</td>
      <td>
        {state} · <StatusText status={status} />
      </td>
      <td>
        {says.length === 0
          ? "nothing"
          : says.map((each, index) => (
              <div key={index}>
                <Text value={each} />
              </div>
            ))}
      </td>
    </tr>
  );
}

async function earlierThan(
  first: string | undefined,
  signal: AbortSignal,
): Promise<readonly AttemptRow[]> {
  const rows: AttemptRow[] = [];
  let id = first;
  for (let count = 0; id !== undefined && count < EARLIER_AT_MOST; count++) {
    const record = await new RecordReader(id).read(signal);
    rows.push(...attemptsOf(record));
    id = originalIn(record)?.replay_of;
  }
  return rows;
}

/** The input to correct, what the hub would do with it, and the replay itself. */
function Again({ original }: { readonly original: HandoffEnvelope }) {
  const { capability, version } = original.body;
  const { to } = original;
  const agent = typeof to === "string" ? to : undefined;
  const wanted = typeof to === "string" ? undefined : to;
  const initial = useMemo(() => escapedJson(original.body.input ?? null), [original]);
  const [text, setText] = useState(initial);
  const [found, setFound] = useState<WireFound | undefined>();
  const [problem, setProblem] = useState<string | undefined>();
  const [isBusy, setBusy] = useState(false);
  const key = operatorKey.value;
  const offered = useLoaded(
    async (signal) => only(await get<WireFound>(searchPath(capability, version), signal), agent),
    [capability, version, agent],
  );
  const schema = offered.value?.fits[0]?.capability.input_schema;
  const read =
    original.body.input === undefined
      ? { value: undefined, problems: [] }
      : checkInput(text, schema);
  const isChanged = text !== initial;
  const run = async (work: () => Promise<void>) => {
    setBusy(true);
    setProblem(undefined);
    try {
      await work();
    } catch (error) {
      setProblem(WaybillError.from(error).message);
    }
    setBusy(false);
  };
  const dryRun = () =>
    run(async () => {
      const query = {
        capability,
        version: wanted?.version ?? version,
        tags: wanted?.tags,
        min_reliability: wanted?.min_reliability,
        ...(read.value !== undefined && { input: read.value }),
      };
      const path = "/v1/capabilities/find";
      setFound(only(await post<WireFound>(path, query, key ? proofBy(key) : undefined), agent));
    });
  const again = (form: FormData) =>
    run(async () => {
      const input = isChanged ? read.value : undefined;
      const outcome = await replay(operatorPost.value!, original, {
        input,
        timeoutMs: secondsIn(form),
      });
      if (outcome === "before") {
        throw new WaybillError(409, "Somebody has replayed it in the meantime. Nothing was done.");
      }
    });
  const faults = read.problems;
  return (
    <section aria-labelledby="again" aria-busy={isBusy}>
      <h2 id="again">Replay</h2>
      <Problem>{offered.problem}</Problem>
      {offered.value !== undefined && schema === undefined && (
        <p class="note">
          {agent === undefined ? "Nobody" : <Text value={agent} />} offers{" "}
          <Text value={capability} /> with a schema now, so the input is checked as JSON only.
        </p>
      )}
      <form
        class="stacked"
        onSubmit={(event) => {
          event.preventDefault();
          void again(new FormData(event.currentTarget));
        }}
      >
        {original.body.input === undefined ? (
          <p>It has no structured input. Its brief and its messages go along as they were.</p>
        ) : (
          <>
            <h3>Input</h3>
            {offered.value === undefined && offered.problem === undefined ? (
              <p class="empty">Looking for its schema…</p>
            ) : (
              <Suspense fallback={<p class="empty">Loading the editor…</p>}>
                <JsonEditor
                  label="Input of the replay"
                  initial={initial}
                  problemsOf={(each) => checkInput(each, schema).problems}
                  change={setText}
                />
              </Suspense>
            )}
            <InputVerdict faults={faults} isChecked={schema !== undefined} isChanged={isChanged} />
          </>
        )}
        <div class="filters">
          <TimeField />
          <button type="button" disabled={isBusy} onClick={() => void dryRun()}>
            Dry run
          </button>
          <button type="submit" class="primary" disabled={isBusy || !key || faults.length > 0}>
            Replay
          </button>
          {!key && <span class="note">Enrol a key of this browser first.</span>}
        </div>
        <p class="note">
          It is handed off again under the id <Id value={replayId(original.handoff_id)} full />,
          once, whoever else replays it.
        </p>
      </form>
      <Problem>{problem}</Problem>
      {found !== undefined && (
        <section aria-labelledby="dry-run">
          <h3 id="dry-run">Dry run: nothing was handed off</h3>
          <p>
            {found.fits[0] === undefined ? (
              "Nobody fits now: the hub would refuse the input, or the work would wait until its deadline."
            ) : (
              <>
                The hub would rank <Text value={found.fits[0].agent_id} /> first.
              </>
            )}
          </p>
          <FoundTables found={found} />
        </section>
      )}
    </section>
  );
}

function InputVerdict({
  faults,
  isChecked,
  isChanged,
}: {
  readonly faults: readonly InputProblem[];
  readonly isChecked: boolean;
  readonly isChanged: boolean;
}) {
  return (
    <div role="status">
      {faults.length === 0 ? (
        <span class="mark good">
          ✓ {isChecked ? "It fits the schema" : "It is JSON"}
          {isChanged ? ", changed" : ", as it was"}
        </span>
      ) : (
        <ul class="wrong">
          {faults.map(({ at, message }) => (
            <li key={`${at} ${message}`}>
              <Text value={at === "" ? message : `At ${at}: ${message}`} />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function searchPath(capability: string, version: string | undefined): string {
  const query = new URLSearchParams({ capability });
  if (version !== undefined) query.set("version", version);
  return `/v1/capabilities?${query}`;
}

/** What was found of the agent that the work is addressed to, if it is to one agent. */
function only(found: WireFound, agent: string | undefined): WireFound {
  if (agent === undefined) return found;
  const isIts = (each: { readonly agent_id: string }) => each.agent_id === agent;
  return { fits: found.fits.filter(isIts), left_out: found.left_out.filter(isIts) };
}
