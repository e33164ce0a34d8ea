import { useEffect, useMemo, useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { connection, onEntry, rows } from "../hub/feed.ts";
import { JobReader } from "../hub/job.ts";
import type { Job as JobRead, JobHandoff } from "../hub/job.ts";
import { foldedAtFirst, treeOf, unfolded } from "../hub/job-tree.ts";
import type { JobBranch } from "../hub/job-tree.ts";
import { Problem, useLoaded } from "../parts/loaded.tsx";
import { Sequence } from "../parts/sequence.tsx";
import { Id, Text } from "../parts/text.tsx";
import { Timeline } from "../parts/timeline.tsx";
import { VirtualList } from "../parts/virtual-list.tsx";

/** Everything that was handed off for one job. */
export function Job({ params: { id = "" } }: { readonly params: { readonly id?: string } }) {
  return <JobOf key={id} id={id} />;
}

const SETTLE_MS = 250;
const SAID_EVERY = 25;

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
  const [progress, setProgress] = useState("");
  const { value, problem } = useLoaded(
    (signal) =>
      reader.read(signal, (read, of) => {
        const isShown = read % SAID_EVERY === 0;
        if (isShown) setProgress(`${read.toLocaleString("en")} of ${of.toLocaleString("en")}`);
      }),
    [reader, news, isLive],
  );
  return (
    <>
      <h1>
        Job <Id value={id} full />
      </h1>
      <Problem>{problem}</Problem>
      {value === undefined ? (
        problem === undefined && <p class="empty">Reading… {progress}</p>
      ) : value.handoffs.length === 0 ? (
        <p class="empty">There is no such job.</p>
      ) : (
        <Shown job={value} />
      )}
    </>
  );
}

const ROW_HEIGHT = 38;
const HEAD = ["Handoff", "Capability", "Recipients", "State"];

function Shown({ job }: { readonly job: JobRead }) {
  const [words, setWords] = useState("");
  const tree = useMemo(() => treeOf(job.handoffs), [job]);
  const [folded, setFolded] = useState<ReadonlySet<string>>(() => foldedAtFirst(tree));
  const wanted = words.toLowerCase().trim();
  const found =
    wanted === "" ? tree : tree.filter(({ handoff }) => textOf(handoff).includes(wanted));
  // Whoever searches wants what is found, folded or not.
  const branches = wanted === "" ? unfolded(tree, folded) : found;
  const handoffs = branches.map(({ handoff }) => handoff);
  const ids = new Set(handoffs.map(({ id }) => id));
  const open = job.handoffs.filter(({ state }) => state === "open").length;
  const tokens = job.handoffs
    .flatMap(({ usage }) => usage)
    .reduce((sum, row) => sum + (row.input_tokens ?? 0) + (row.output_tokens ?? 0), 0);
  const costs = costsOf(job);
  const fold = (id: string) => {
    const next = new Set(folded);
    if (!next.delete(id)) next.add(id);
    setFolded(next);
  };
  const all = job.handoffs.length;
  return (
    <>
      <p class="note">
        {all.toLocaleString("en")} {all === 1 ? "handoff" : "handoffs"}, {open} open
        {tokens > 0 && `, ${tokens.toLocaleString("en")} tokens reported`}
        {costs !== "" && `, ${costs}`}. Open a handoff to check its signatures.
      </p>
      {all > 1 && (
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
            {found.length.toLocaleString("en")} of {all.toLocaleString("en")}
            {handoffs.length < found.length &&
              `, ${(found.length - handoffs.length).toLocaleString("en")} folded`}
          </span>
          {tree.some(({ below }) => below > 0) && (
            <button
              type="button"
              onClick={() =>
                setFolded(
                  new Set(
                    folded.size > 0
                      ? []
                      : tree.filter(({ below }) => below > 0).map(({ handoff }) => handoff.id),
                  ),
                )
              }
            >
              {folded.size > 0 ? "Unfold all" : "Fold all"}
            </button>
          )}
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
        <VirtualList
          label="Handoffs of this job"
          kind="branches"
          head={HEAD}
          count={branches.length}
          rowHeight={ROW_HEIGHT}
          keyOf={(index) => branches[index]!.handoff.id}
          row={(index) => (
            <Branch branch={branches[index]!} folded={folded} fold={fold} isFlat={wanted !== ""} />
          )}
          empty="Nothing in this job contains that."
        />
      </section>
    </>
  );
}

function textOf({ id, capability, attempts, state }: JobHandoff): string {
  return [id, capability, state, ...attempts.map(({ recipient }) => recipient)]
    .join("\n")
    .toLowerCase();
}

function Branch({
  branch: { handoff, depth, below },
  folded,
  fold,
  isFlat,
}: {
  readonly branch: JobBranch;
  readonly folded: ReadonlySet<string>;
  readonly fold: (id: string) => void;
  readonly isFlat: boolean;
}) {
  const { id, capability, attempts, state } = handoff;
  const isFolded = folded.has(id);
  return (
    <>
      <span role="cell">
        {!isFlat && "\u2003".repeat(depth)}
        {!isFlat && below > 0 && (
          <button
            type="button"
            class="plain fold"
            aria-expanded={!isFolded}
            aria-label={`${below.toLocaleString("en")} parts of ${id}`}
            onClick={() => fold(id)}
          >
            {isFolded ? "▸" : "▾"} {below.toLocaleString("en")}
          </button>
        )}{" "}
        <Link href={`/handoffs/${id}`}>
          <Id value={id} />
        </Link>
      </span>
      <span role="cell">
        <Text value={capability} />
      </span>
      <span role="cell">
        <Text value={attempts.map(({ recipient }) => recipient).join(", then ") || "nobody yet"} />
      </span>
      <span role="cell">{state.replaceAll("_", " ")}</span>
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
