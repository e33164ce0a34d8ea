import { WaybillError } from "@waybill/protocol";
import { useEffect, useRef, useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { contractsOfAgent, handoffsOf } from "../hub/agent-contracts.ts";
import type { AgentContracts as Contracts } from "../hub/agent-contracts.ts";
import { version } from "../hub/feed.ts";
import { Problem } from "./loaded.tsx";
import { Id, Text } from "./text.tsx";

/** How often an agent has kept its contracts and broken them, by what is on record. */
export function AgentContracts({ agent }: { readonly agent: string }) {
  const [contracts, setContracts] = useState<Contracts | undefined>();
  const [problem, setProblem] = useState<string | undefined>();
  const stop = useRef<AbortController>(null);
  useEffect(() => () => stop.current?.abort(), []);
  // Drawn again with every change of the rows.
  void version.value;
  const ids = handoffsOf(agent);
  const isReading = contracts !== undefined && contracts.read < contracts.of;
  const start = async () => {
    const control = (stop.current = new AbortController());
    setProblem(undefined);
    try {
      await contractsOfAgent(agent, ids, control.signal, setContracts);
    } catch (error) {
      if (control.signal.aborted) return;
      setContracts(undefined);
      setProblem(WaybillError.from(error).message);
    }
  };
  return (
    <section aria-labelledby="contracts" aria-busy={isReading}>
      <h2 id="contracts">Contracts</h2>
      <p class="note">
        By accepting work an agent agrees to its terms. The records of its newest handoffs say which
        terms it has broken. They are read, and their signatures checked here.
      </p>
      <p>
        <button type="button" disabled={isReading || ids.length === 0} onClick={() => void start()}>
          Check the contracts of {handoffsText(ids.length)}
        </button>
      </p>
      <Problem>{problem}</Problem>
      {contracts !== undefined && <Counts contracts={contracts} />}
    </section>
  );
}

function Counts({ contracts }: { readonly contracts: Contracts }) {
  const { read, of, kept, broken, unsound } = contracts;
  return (
    <>
      <p role="status">
        {read < of
          ? `Read ${read} of ${of} records…`
          : `${kept} kept and ${broken.length} broken, in ${handoffsText(of)}.`}
      </p>
      {broken.length + unsound.length > 0 && (
        <ul class="problem">
          {unsound.map((handoff) => (
            <li key={handoff}>
              <Link href={`/handoffs/${handoff}`}>
                <Id value={handoff} />
              </Link>{" "}
              does not count: its signatures do not hold.
            </li>
          ))}
          {broken.map(({ handoff, attempt, breaches }) => (
            <li key={`${handoff} ${attempt}`}>
              <Link href={`/handoffs/${handoff}`}>
                <Id value={handoff} />
              </Link>
              , attempt {attempt}:{" "}
              {breaches.map(({ term, reason }) => (
                <span key={term}>
                  <code>{term}</code>: <Text value={reason} />.{" "}
                </span>
              ))}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function handoffsText(count: number): string {
  return `${count} ended ${count === 1 ? "handoff" : "handoffs"}`;
}
