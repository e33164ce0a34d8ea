import { useState } from "preact/hooks";
import { knownFrom } from "../hub/feed.ts";
import { isEnded } from "../hub/handoffs.ts";
import type { HandoffRow } from "../hub/handoffs.ts";
import { HandoffTable } from "../parts/handoff-table.tsx";

const WHICH: Readonly<Record<string, (row: HandoffRow) => boolean>> = {
  all: () => true,
  open: (row) => !isEnded(row),
  "waiting for an answer": ({ standing }) => standing === "asks",
  failed: ({ standing }) => standing === "failed",
  "dead letters": ({ standing }) => standing === "dead letter",
  completed: ({ standing }) => standing === "completed",
};

/** All handoffs that the page has read, filtered. */
export function Handoffs() {
  const [which, setWhich] = useState("all");
  const [words, setWords] = useState("");
  const wanted = words.toLowerCase().trim();
  return (
    <>
      <h1>Handoffs</h1>
      <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
        <label>
          Standing{" "}
          <select value={which} onChange={(event) => setWhich(event.currentTarget.value)}>
            {Object.keys(WHICH).map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <label>
          Contains{" "}
          <input
            type="search"
            value={words}
            placeholder="an id, an agent, a capability"
            onInput={(event) => setWords(event.currentTarget.value)}
          />
        </label>
      </form>
      {knownFrom.value > 0 && (
        <p class="note">
          Handed off since entry {knownFrom.value.toLocaleString("en")} of the ledger.
        </p>
      )}
      <HandoffTable
        label="Handoffs"
        wanted={(row) => WHICH[which]!(row) && (wanted === "" || textOf(row).includes(wanted))}
      />
    </>
  );
}

function textOf({ id, from, to, capability, correlationId, says }: HandoffRow): string {
  return [id, from, to, capability, correlationId, says].join("\n").toLowerCase();
}
