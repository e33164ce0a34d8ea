import { useState } from "preact/hooks";
import { decisionText, envelopeText } from "../hub/event-text.ts";
import { signedDiscardIn } from "../trust/check.ts";
import type { CheckedEntry } from "../trust/check.ts";
import { VerdictMark } from "./standing.tsx";
import { Json, Text, Time, visible } from "./text.tsx";

/** The record of a handoff in order, with a verdict on each entry. */
export function Entries({
  entries,
  hub,
}: {
  readonly entries: readonly CheckedEntry[];
  readonly hub: string;
}) {
  return (
    <ol class="entries">
      {entries.map((checked) => (
        <EntryItem key={checked.entry.sequence} checked={checked} hub={hub} />
      ))}
    </ol>
  );
}

function EntryItem({ checked, hub }: { readonly checked: CheckedEntry; readonly hub: string }) {
  const { entry, envelope, verdict } = checked;
  const [isOpen, setOpen] = useState(false);
  const { what, more, tone } =
    envelope === undefined
      ? entry.type === "decision"
        ? decisionText(entry.content)
        : { what: "sent something unreadable", more: "", tone: "bad" as const }
      : envelopeText(envelope, hub);
  return (
    <li class={tone}>
      <div class="line">
        <Time at={Date.parse(entry.at)} />
        <strong>
          <Text value={envelope?.from ?? entry.from ?? signedDiscardIn(entry)?.signed.by ?? hub} />
        </strong>
        <span class="what">
          <Text value={what} />
          {more !== "" && (
            <>
              {": "}
              <q>
                <Text value={more} />
              </q>
            </>
          )}
        </span>
        <VerdictMark verdict={verdict} />
      </div>
      {verdict.type === "broken" && (
        <p class="problem">
          <Text value={verdict.why} />
        </p>
      )}
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          Entry {entry.sequence}
          {verdict.type === "checked" && (
            <>
              , signed with <code>{verdict.kid}</code>
            </>
          )}
        </summary>
        {isOpen && (
          <>
            {envelope !== undefined && (
              <Json label={`Contents of entry ${entry.sequence}`} value={envelope} />
            )}
            <pre
              tabIndex={0}
              role="region"
              aria-label={`Entry ${entry.sequence} as it is on record`}
            >
              {visible(entry.content)}
            </pre>
          </>
        )}
      </details>
    </li>
  );
}
