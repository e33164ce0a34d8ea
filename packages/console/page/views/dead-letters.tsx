import { WaybillError } from "@waybill/protocol";
import type { WireDeadLetter } from "@waybill/protocol/wire";
import { useEffect, useRef, useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { onEntry } from "../hub/feed.ts";
import { get, post } from "../hub/hub.ts";
import { session } from "../hub/session.ts";
import { Problem } from "../parts/loaded.tsx";
import { StatusText } from "../parts/standing.tsx";
import { Id, Text } from "../parts/text.tsx";
import { VirtualList } from "../parts/virtual-list.tsx";

const PAGE = 500;
const ROW_HEIGHT = 40;
const HEAD = ["Chosen", "Handoff", "From", "Capability", "Status", "Attempts", "Reason"];
/** Discards that are under way at once. */
const AT_ONCE = 8;

/** Handoffs that ended without a verdict, for which an operator has to decide. */
export function DeadLetters() {
  const { letters, isReading, problem, drop } = useDeadLetters();
  const [words, setWords] = useState("");
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const wanted = words.toLowerCase().trim();
  const shown = letters.filter((letter) => wanted === "" || textOf(letter).includes(wanted));
  const picked = shown.filter(({ id }) => chosen.has(id));
  const choose = (id: string, isChosen: boolean) => {
    const next = new Set(chosen);
    if (isChosen) next.add(id);
    else next.delete(id);
    setChosen(next);
  };
  return (
    <>
      <h1>Dead letters</h1>
      <p class="note">
        These ended without a verdict of their recipient, and nobody has replayed or discarded them.
        Whoever handed one off can replay it: <code>waybill dead-letters replay</code>.
      </p>
      <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
        <label>
          Contains{" "}
          <input
            type="search"
            value={words}
            placeholder="an id, an agent, a reason"
            onInput={(event) => setWords(event.currentTarget.value)}
          />
        </label>
        <span role="status">
          {shown.length.toLocaleString("en")} of {letters.length.toLocaleString("en")}
          {isReading && ", reading…"}
        </span>
        <button
          type="button"
          disabled={shown.length === 0}
          onClick={() =>
            setChosen(new Set(picked.length === shown.length ? [] : shown.map(({ id }) => id)))
          }
        >
          {picked.length === shown.length && shown.length > 0 ? "Choose none" : "Choose all shown"}
        </button>
      </form>
      <Problem>{problem}</Problem>
      <Discard letters={picked} discarded={drop} />
      <VirtualList
        label="Dead letters"
        kind="letters"
        head={HEAD}
        count={shown.length}
        rowHeight={ROW_HEIGHT}
        keyOf={(index) => shown[index]!.id}
        empty={isReading ? "Reading…" : "There are none."}
        row={(index) => {
          const letter = shown[index]!;
          const { id, delegator, capability, status, attempts, reason } = letter;
          return (
            <>
              <span role="cell">
                <input
                  type="checkbox"
                  aria-label={`Choose ${id}`}
                  checked={chosen.has(id)}
                  onChange={(event) => choose(id, event.currentTarget.checked)}
                />
              </span>
              <span role="cell">
                <Link href={`/handoffs/${id}`}>
                  <Id value={id} />
                </Link>
              </span>
              <span role="cell">
                <Text value={delegator} />
              </span>
              <span role="cell">
                <Text value={capability} />
              </span>
              <span role="cell">
                <StatusText status={status} />
              </span>
              <span role="cell">{attempts}</span>
              <span role="cell">
                <Text value={reason} />
              </span>
            </>
          );
        }}
      />
    </>
  );
}

function textOf({ id, delegator, capability, reason, status }: WireDeadLetter): string {
  return [id, delegator, capability, reason, status].join("\n").toLowerCase();
}

interface DeadLettersRead {
  readonly letters: readonly WireDeadLetter[];
  readonly isReading: boolean;
  readonly problem: string | undefined;
  /** Takes one out of the list. */
  readonly drop: (id: string) => void;
}

function useDeadLetters(): DeadLettersRead {
  const [letters, setLetters] = useState<readonly WireDeadLetter[]>([]);
  const [isReading, setReading] = useState(true);
  const [problem, setProblem] = useState<string | undefined>();
  const [round, setRound] = useState(0);
  useEffect(() => {
    const stop = new AbortController();
    const read = async () => {
      try {
        const all: WireDeadLetter[] = [];
        for (let after = "", isMore = true; isMore;) {
          const path = `/v1/dead-letters?limit=${PAGE}${after === "" ? "" : `&after=${after}`}`;
          const page = await get<{ dead_letters: WireDeadLetter[]; next?: string }>(
            path,
            stop.signal,
          );
          all.push(...page.dead_letters);
          after = page.next ?? "";
          isMore = page.next !== undefined;
        }
        setLetters(all);
        setProblem(undefined);
      } catch (error) {
        if (!stop.signal.aborted) setProblem(WaybillError.from(error).message);
      }
      if (!stop.signal.aborted) setReading(false);
    };
    void read();
    return () => stop.abort();
  }, [round]);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const unsubscribe = onEntry(({ type, content }) => {
      // Also what another operator does.
      if (type !== "decision" || !/"type":"(dead_letter|discard|replayed)"/.test(content)) return;
      timer ??= setTimeout(() => {
        timer = undefined;
        setRound((each) => each + 1);
      }, 500);
    });
    return () => {
      unsubscribe();
      clearTimeout(timer);
    };
  }, []);
  return {
    letters,
    isReading,
    problem,
    drop: (id) => setLetters((all) => all.filter((letter) => letter.id !== id)),
  };
}

interface Done {
  readonly done: number;
  readonly failed: readonly string[];
  readonly of: number;
  readonly tookMs: number;
  readonly isOver: boolean;
}

function Discard({
  letters,
  discarded,
}: {
  readonly letters: readonly WireDeadLetter[];
  readonly discarded: (id: string) => void;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [progress, setProgress] = useState<Done | undefined>();
  if (session.value?.role !== "operator") {
    return <p class="note">You can read this list. Only an operator can discard dead letters.</p>;
  }
  const start = async () => {
    dialog.current?.close();
    const waiting = letters.map(({ id }) => id);
    const of = waiting.length;
    const began = performance.now();
    let done = 0;
    const failed: string[] = [];
    const show = (isOver: boolean) =>
      setProgress({ done, failed: [...failed], of, tookMs: performance.now() - began, isOver });
    const work = async () => {
      for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
        try {
          await post(`/v1/dead-letters/${id}/discard`);
          done++;
          discarded(id);
        } catch (error) {
          failed.push(`${id}: ${WaybillError.from(error).message}`);
        }
        show(false);
      }
    };
    show(false);
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    show(true);
  };
  const isRunning = progress !== undefined && !progress.isOver;
  const count = letters.length.toLocaleString("en");
  return (
    <div class="acts">
      <button
        type="button"
        disabled={letters.length === 0 || isRunning}
        onClick={() => dialog.current?.showModal()}
      >
        Discard {count} chosen…
      </button>
      <dialog ref={dialog} aria-labelledby="discard">
        <h2 id="discard">
          Discard {count} dead {letters.length === 1 ? "letter" : "letters"}?
        </h2>
        <p>
          They leave this list, and nobody is told. They stay in the ledger, and so does this act.
        </p>
        <p class="filters">
          <button type="button" class="primary" onClick={() => void start()}>
            Discard
          </button>
          <button type="button" onClick={() => dialog.current?.close()}>
            Keep them
          </button>
        </p>
      </dialog>
      {progress !== undefined && (
        <label>
          <progress max={progress.of} value={progress.done + progress.failed.length} />{" "}
          <span role="status">
            {progress.done} of {progress.of} discarded,{" "}
            {Math.round((progress.done / Math.max(1, progress.tookMs)) * 1000)} a second
          </span>
        </label>
      )}
      {progress !== undefined && progress.failed.length > 0 && (
        <Problem>{`${progress.failed.length} could not be discarded. ${progress.failed[0]}`}</Problem>
      )}
    </div>
  );
}
