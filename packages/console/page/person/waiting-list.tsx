import { WaybillError } from "@waybill/protocol";
import type { HandoffEnvelope, Json } from "@waybill/protocol";
import type { WireHandoffView } from "@waybill/protocol/wire";
import { useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { SchemaForm } from "../form/schema-form.tsx";
import type { HandoffRow } from "../hub/handoffs.ts";
import { get } from "../hub/hub.ts";
import { Deadline } from "../parts/deadline.tsx";
import { Problem, useLoaded } from "../parts/loaded.tsx";
import { Id, Text, visible } from "../parts/text.tsx";
import { Work } from "../parts/work.tsx";
import { waitingWork } from "./current-inbox.ts";
import type { Inbox } from "./inbox.ts";
import { Post } from "../trust/post.ts";

const REASON = {
  type: "object",
  required: ["reason"],
  properties: { reason: { type: "string", title: "Why", maxLength: 2_000 } },
} as const;
const SHOWN = 50;

/** Work for the person that nobody has accepted. */
export function WaitingList({ inbox }: { readonly inbox: Inbox }) {
  const { value: rows } = waitingWork;
  const { problem, isBusy, run } = useAct();
  return (
    <section aria-labelledby="waiting">
      <h2 id="waiting">Waiting for you</h2>
      <Problem>{problem}</Problem>
      {rows.length === 0 && (
        <p class="empty">Nothing waits for you, as far as this page has read.</p>
      )}
      {rows.slice(0, SHOWN).map((row) => (
        <WaitingItem key={row.id} row={row} inbox={inbox} isBusy={isBusy} run={run} />
      ))}
      {rows.length > SHOWN && (
        <p class="note">{(rows.length - SHOWN).toLocaleString("en")} more wait behind these.</p>
      )}
      <p>
        <button type="button" aria-disabled={isBusy} onClick={() => void run(() => inbox.accept())}>
          Accept what comes next
        </button>
      </p>
    </section>
  );
}

interface Act {
  readonly problem: string | undefined;
  readonly isBusy: boolean;
  readonly run: (act: () => Promise<void>) => Promise<void>;
}

function useAct(): Act {
  const [problem, setProblem] = useState<string | undefined>();
  const [isBusy, setBusy] = useState(false);
  const run = async (act: () => Promise<void>) => {
    if (isBusy) return;
    setProblem(undefined);
    setBusy(true);
    try {
      await act();
    } catch (error) {
      setProblem(WaybillError.from(error).message);
    } finally {
      setBusy(false);
    }
  };
  return { problem, isBusy, run };
}

function WaitingItem({
  row,
  inbox,
  isBusy,
  run,
}: Omit<Act, "problem"> & { readonly row: HandoffRow; readonly inbox: Inbox }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <article class="work-item" aria-label={visible(`${row.capability} from ${row.from}`)}>
      <h3>
        <Text value={row.capability} /> from <Text value={row.from} />
      </h3>
      <p>
        <Link href={`/handoffs/${row.id}`}>
          <Id value={row.id} />
        </Link>
        , due <Deadline at={row.deadline} isOpen />
      </p>
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>Look at it</summary>
        {isOpen && <Look id={row.id} from={row.from} inbox={inbox} />}
      </details>
      <p>
        <button
          type="button"
          class="primary"
          aria-disabled={isBusy}
          onClick={() => void run(() => inbox.accept(row.id))}
        >
          Accept
        </button>
      </p>
      <details>
        <summary>Decline it</summary>
        <SchemaForm
          schema={REASON}
          label="Decline it"
          submit="Decline"
          send={(value: Json) =>
            inbox.decline(row.id, (value as { readonly reason: string }).reason)
          }
        />
      </details>
    </article>
  );
}

/** The work itself, with its signature checked here. */
function Look({
  id,
  from,
  inbox,
}: {
  readonly id: string;
  readonly from: string;
  readonly inbox: Inbox;
}) {
  const { value, problem } = useLoaded(
    async (signal): Promise<HandoffEnvelope> => {
      const view = await get<WireHandoffView>(`/v1/handoffs/${id}`, signal);
      const { envelope } = await new Post(inbox.who).verify(view.envelope, from);
      if (envelope.kind === "handoff" && envelope.handoff_id === id) return envelope;
      throw new WaybillError(401, "The hub shows another handoff than this one.");
    },
    [id],
  );
  if (problem !== undefined) return <Problem>{problem}</Problem>;
  if (value === undefined) return <p class="empty">Reading…</p>;
  return <Work title="Work" body={value.body} />;
}
