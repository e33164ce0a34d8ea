import { readLedger, verifyCheckpoint, verifyLedger } from "@waybill/hub";
import type { LedgerEntry, LedgerReport } from "@waybill/hub";
import { WaybillError } from "@waybill/protocol";
import type { WireEntry, WireWellKnown } from "@waybill/protocol/wire";
import { useEffect, useRef, useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { decisionText, envelopeText } from "../hub/event-text.ts";
import { payloadOf } from "../hub/handoffs.ts";
import { get, lines } from "../hub/hub.ts";
import { Problem, useLoaded } from "../parts/loaded.tsx";
import { VerdictMark } from "../parts/standing.tsx";
import { durationText, Id, Json, Text, Time, visible } from "../parts/text.tsx";
import { checkEntry, Trust } from "../trust/check.ts";
import type { CheckedEntry } from "../trust/check.ts";

/** The record of everything, verified in this browser. */
export function Ledger() {
  return (
    <>
      <h1>Ledger</h1>
      <p class="note">
        Every envelope, manifest and decision is an entry, and each entry is chained to the one
        before.
      </p>
      <Verify />
      <OneEntry />
      <Export />
    </>
  );
}

interface Progress {
  readonly read: number;
  readonly of: number;
  readonly tookMs: number;
  readonly report?: LedgerReport | undefined;
  readonly problem?: string | undefined;
}

/** How many entries are verified before the page is drawn again. */
const AT_ONCE = 100;

function Verify() {
  const [progress, setProgress] = useState<Progress | undefined>();
  const stop = useRef<AbortController>(null);
  useEffect(() => () => stop.current?.abort(), []);
  const isRunning =
    progress !== undefined && progress.report === undefined && progress.problem === undefined;
  const start = async () => {
    const control = new AbortController();
    stop.current = control;
    const began = performance.now();
    let of = 0;
    let read = 0;
    const show = (more: Partial<Progress> = {}) =>
      setProgress({ read, of, tookMs: performance.now() - began, ...more });
    try {
      const checkpoint = await checkedCheckpoint(control.signal);
      of = checkpoint.sequence;
      show();
      const report = await verifyLedger(
        counted(entries(control.signal), checkpoint.sequence, async (count) => {
          read = count;
          show();
          await new Promise((resolve) => setTimeout(resolve));
        }),
        { checkpoint },
      );
      if (report.holds) read = report.entries;
      show({ report });
    } catch (error) {
      if (control.signal.aborted) setProgress(undefined);
      else show({ problem: WaybillError.from(error).message });
    }
  };
  return (
    <section aria-labelledby="verify">
      <h2 id="verify">Verify</h2>
      <p>
        Reads the whole ledger, and checks in this browser that each entry follows from the one
        before it and that the hub has signed for the last one.
      </p>
      {isRunning ? (
        <button type="button" onClick={() => stop.current?.abort()}>
          Stop
        </button>
      ) : (
        <button type="button" class="primary" onClick={() => void start()}>
          Verify the ledger
        </button>
      )}
      {progress !== undefined && <VerifyProgress progress={progress} />}
    </section>
  );
}

function VerifyProgress({
  progress: { read, of, tookMs, report, problem },
}: {
  readonly progress: Progress;
}) {
  return (
    <div class="outcome">
      <label>
        <progress max={Math.max(1, of)} value={read} /> {read.toLocaleString("en")} of{" "}
        {of.toLocaleString("en")} entries
        {tookMs > 0 &&
          read > 0 &&
          `, ${Math.round((read / tookMs) * 1000).toLocaleString("en")} a second`}
      </label>
      <Problem>{problem}</Problem>
      {report?.holds === true && (
        <p class="verdict good" role="status">
          <span aria-hidden="true">✓</span> The ledger is intact:{" "}
          {report.entries.toLocaleString("en")} entries, checked here in {durationText(tookMs)}. The
          last hash is <code>{report.head.hash}</code>.
        </p>
      )}
      {report?.holds === false && (
        <p class="verdict bad" role="alert">
          <span aria-hidden="true">✗</span> The ledger is not intact.{" "}
          <Text value={report.message} /> Everything before that entry is intact.
        </p>
      )}
    </div>
  );
}

async function checkedCheckpoint(signal: AbortSignal) {
  const { hub } = await get<WireWellKnown>("/.well-known/waybill", signal);
  const trust = new Trust(hub);
  const { keyOf } = await trust.keysOf([]);
  const { checkpoint } = await get<{ checkpoint: string }>("/v1/ledger/checkpoint", signal);
  return verifyCheckpoint(checkpoint, (kid) => {
    const record = keyOf(kid);
    return record?.agent === hub ? record.key : undefined;
  });
}

async function* pieces(signal: AbortSignal): AsyncGenerator<string> {
  for await (const batch of lines("/v1/ledger", signal)) {
    for (const line of batch) yield `${line}\n`;
  }
}

function entries(signal: AbortSignal): AsyncGenerator<LedgerEntry> {
  return readLedger(pieces(signal));
}

/** The entries up to the checkpoint; more may be written meanwhile. */
async function* counted(
  all: AsyncIterable<LedgerEntry>,
  upTo: number,
  progressed: (count: number) => Promise<void>,
): AsyncGenerator<LedgerEntry> {
  let count = 0;
  for await (const entry of all) {
    yield entry;
    if (++count % AT_ONCE === 0) await progressed(count);
    if (entry.sequence >= upTo) return;
  }
}

function OneEntry() {
  const [wanted, setWanted] = useState("");
  const [sequence, setSequence] = useState<number | undefined>();
  return (
    <section aria-labelledby="entry">
      <h2 id="entry">Jump to an entry</h2>
      <form
        class="filters"
        onSubmit={(event) => {
          event.preventDefault();
          setSequence(Number(wanted));
        }}
      >
        <label>
          Number{" "}
          <input
            type="number"
            min="1"
            step="1"
            required
            value={wanted}
            onInput={(event) => setWanted(event.currentTarget.value)}
          />
        </label>
        <button type="submit">Show</button>
        {sequence !== undefined && (
          <>
            <button
              type="button"
              disabled={sequence <= 1}
              onClick={() => setSequence(sequence - 1)}
            >
              Previous
            </button>
            <button type="button" onClick={() => setSequence(sequence + 1)}>
              Next
            </button>
          </>
        )}
      </form>
      {sequence !== undefined && <Entry key={sequence} sequence={sequence} />}
    </section>
  );
}

interface Found {
  readonly checked: CheckedEntry | undefined;
  readonly hub: string;
}

async function entryAt(sequence: number, signal: AbortSignal): Promise<Found> {
  const { hub } = await get<WireWellKnown>("/.well-known/waybill", signal);
  for await (const [line] of lines(`/v1/ledger?after=${sequence - 1}`, signal)) {
    if (line === undefined) continue;
    const entry = JSON.parse(line) as WireEntry;
    const keys = await new Trust(hub).keysOf(entry.from === null ? [] : [entry.from]);
    const envelope = entry.type === "envelope" ? payloadOf(entry.content) : undefined;
    return { hub, checked: checkEntry(entry, entry.handoff_id ?? "", keys, envelope) };
  }
  return { hub, checked: undefined };
}

function Entry({ sequence }: { readonly sequence: number }) {
  const { value, problem } = useLoaded((signal) => entryAt(sequence, signal), [sequence]);
  if (problem !== undefined) return <Problem>{problem}</Problem>;
  if (value === undefined) return <p class="empty">Reading…</p>;
  const { checked, hub } = value;
  if (checked === undefined) return <p class="empty">The ledger has no entry {sequence}.</p>;
  const { entry, envelope, verdict } = checked;
  const told =
    envelope !== undefined
      ? envelopeText(envelope, hub).what
      : entry.type === "decision"
        ? decisionText(entry.content).what
        : "publishes a manifest";
  return (
    <>
      <dl class="facts">
        <dt>Entry</dt>
        <dd>
          {entry.sequence} · <Time at={Date.parse(entry.at)} />
        </dd>
        <dt>What</dt>
        <dd>
          <Text value={entry.from ?? hub} /> <Text value={told} />
        </dd>
        {entry.type === "envelope" && (
          <>
            <dt>Signature</dt>
            <dd>
              <VerdictMark verdict={verdict} />
              {verdict.type === "broken" && (
                <>
                  : <Text value={verdict.why} />
                </>
              )}
            </dd>
          </>
        )}
        {entry.handoff_id !== null && (
          <>
            <dt>Handoff</dt>
            <dd>
              <Link href={`/handoffs/${entry.handoff_id}`}>
                <Id value={entry.handoff_id} full />
              </Link>
            </dd>
          </>
        )}
        <dt>Digest</dt>
        <dd>
          <code>{visible(entry.digest)}</code>
        </dd>
        <dt>Chained hash</dt>
        <dd>
          <code>{visible(entry.hash)}</code>
        </dd>
      </dl>
      {envelope !== undefined && <Json label="Contents" value={envelope} />}
      <pre tabIndex={0} role="region" aria-label="As it is on record">
        {visible(entry.content)}
      </pre>
    </>
  );
}

function Export() {
  const [count, setCount] = useState<number | undefined>();
  const [problem, setProblem] = useState<string | undefined>();
  const stop = useRef<AbortController>(null);
  useEffect(() => () => stop.current?.abort(), []);
  const save = async () => {
    const control = new AbortController();
    stop.current = control;
    setProblem(undefined);
    try {
      let all = 0;
      setCount(all);
      const parts: Blob[] = [];
      for await (const batch of lines("/v1/ledger", control.signal)) {
        if (batch.length > 0) parts.push(new Blob([`${batch.join("\n")}\n`]));
        setCount((all += batch.length));
      }
      const url = URL.createObjectURL(new Blob(parts, { type: "application/x-ndjson" }));
      const link = document.createElement("a");
      link.href = url;
      link.download = "ledger.ndjson";
      link.click();
      // The browser has begun to read it by then.
      setTimeout(() => URL.revokeObjectURL(url), 60_000);
    } catch (error) {
      if (!control.signal.aborted) setProblem(WaybillError.from(error).message);
    }
  };
  return (
    <section aria-labelledby="export">
      <h2 id="export">Export</h2>
      <p>
        Saves all entries as lines of JSON, every envelope verbatim.{" "}
        <code>waybill ledger verify</code> checks the file again.
      </p>
      <button type="button" onClick={() => void save()}>
        Save the ledger
      </button>
      {count !== undefined && <p role="status">{count.toLocaleString("en")} entries read.</p>}
      <Problem>{problem}</Problem>
    </section>
  );
}
