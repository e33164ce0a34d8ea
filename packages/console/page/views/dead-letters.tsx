import { WaybillError } from "@waybill/protocol";
import type { WireDeadLetter } from "@waybill/protocol/wire";
import { useEffect, useRef, useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { onEntry } from "../hub/feed.ts";
import { get } from "../hub/hub.ts";
import { DeadLetterActs } from "../parts/dead-letter-acts.tsx";
import { Problem } from "../parts/loaded.tsx";
import { OperatorKeyPanel } from "../parts/operator-key.tsx";
import { StatusText } from "../parts/standing.tsx";
import { Id, Text, visible } from "../parts/text.tsx";
import { VirtualList } from "../parts/virtual-list.tsx";

const PAGE = 500;
const ROW_HEIGHT = 40;
const HEAD = ["Chosen", "Handoff", "From", "Capability", "Status", "Attempts", "Reason", "Replay"];
/** What happens at once is shown together. */
const TOGETHER_MS = 250;

/** Handoffs that ended without a verdict, for which an operator has to decide. */
export function DeadLetters() {
  const { letters, isReading, problem } = useDeadLetters();
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
        An operator can replay them here, and whoever handed one off with{" "}
        <code>waybill dead-letters replay</code>.
      </p>
      <OperatorKeyPanel />
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
      <DeadLetterActs letters={picked} />
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
              <span role="cell" title={visible(reason)}>
                <Text value={reason} />
              </span>
              <span role="cell">
                <Link href={`/dead-letters/${id}`} aria-label={`Replay ${id}`}>
                  Replay…
                </Link>
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
}

function useDeadLetters(): DeadLettersRead {
  const [letters, setLetters] = useState<readonly WireDeadLetter[]>([]);
  const [isReading, setReading] = useState(true);
  const [problem, setProblem] = useState<string | undefined>();
  const [round, setRound] = useState(0);
  /** A page of the list may have been read before they went. */
  const gone = useRef(new Set<string>());
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
        setLetters(all.filter(({ id }) => !gone.current.has(id)));
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
    // Also what another operator does.
    let isMore = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const unsubscribe = onEntry(({ type, content, handoff_id: id }) => {
      if (type !== "decision") return;
      if (/"type":"(discard|replayed)"/.test(content)) gone.current.add(id!);
      else if (/"type":"(dead_letter|expire)"/.test(content)) isMore = true;
      else return;
      timer ??= setTimeout(() => {
        timer = undefined;
        setLetters((all) => all.filter((letter) => !gone.current.has(letter.id)));
        if (isMore) setRound((each) => each + 1);
        isMore = false;
      }, TOGETHER_MS);
    });
    return () => {
      unsubscribe();
      clearTimeout(timer);
    };
  }, []);
  return { letters, isReading, problem };
}
