import type { HandoffView, LedgerEntry } from "@waybill/hub";
import { mergeUsage, parseEnvelope, readCompact } from "@waybill/protocol";
import { jobOf } from "@waybill/protocol/audit";
import type { HandoffEnvelope, SessionState } from "@waybill/protocol";
import { eventsOf } from "./events.ts";
import type { RecordContext } from "./events.ts";
import type { Trace, TraceEvent, TraceHandoff } from "./trace.ts";
import { overuse, ownUsage, reportedUsage } from "./usage.ts";

/** What the hub has on record about one handoff. */
export interface Recorded {
  readonly view: HandoffView;
  readonly entries: readonly LedgerEntry[];
}

interface TraceNode extends TraceHandoff {
  readonly parentId: string | undefined;
  /** The recipients and the delegator. */
  readonly parties: readonly string[];
  readonly children: TraceNode[];
}

/** Assembles the trace of a job from its records. It makes no requests. */
export function buildTrace(
  correlationId: string,
  recorded: readonly Recorded[],
  context: RecordContext,
): Trace {
  const all = recorded
    .map((each) => handoffOf(each, context))
    .toSorted((a, b) => a.startedAt - b.startedAt);
  const byId = new Map(all.map((each) => [each.id, each]));
  const roots: TraceNode[] = [];
  for (const each of all) {
    const above = byId.get(each.replayOf ?? "") ?? byId.get(each.parentId ?? "");
    (above?.children ?? roots).push(each);
  }
  const parts = jobOf(
    roots.map((root) => {
      const parties = new Set([...withDescendants(root)].flatMap((each) => each.parties));
      return { root, delegator: root.delegator, parties };
    }),
  );
  const handoffs = parts.job.map(({ root }) => root);
  // Foreign handoffs under this id don't count towards the job's duration.
  const own = handoffs.flatMap((each) => [...withDescendants(each)]);
  const isOver = own.every(({ endedAt }) => endedAt !== undefined);
  const signatures = all
    .flatMap(({ events }) => events)
    .flatMap(({ signature, receipt }) => [signature, receipt]);
  return {
    correlationId,
    startedAt: Math.min(...own.map(({ startedAt }) => startedAt)),
    endedAt: isOver ? Math.max(...own.map(({ endedAt }) => endedAt!)) : undefined,
    handoffs,
    apart: parts.apart.map(({ root }) => root),
    count: own.length,
    usage: mergeUsage(own.flatMap(({ usage }) => usage)),
    signatures: {
      held: signatures.filter((each) => each?.holds === true).length,
      failed: signatures.filter((each) => each?.holds === false).length,
    },
  };
}

function* withDescendants(handoff: TraceNode): Generator<TraceNode> {
  yield handoff;
  for (const child of handoff.children) yield* withDescendants(child);
}

function handoffOf(recorded: Recorded, context: RecordContext): TraceNode {
  const { view, entries } = recorded;
  const envelope = parseEnvelope(readCompact(view.envelope).payload) as HandoffEnvelope;
  const events = eventsOf(entries, context);
  const { to } = envelope;
  const said = reportedUsage(entries, context);
  const addressed = typeof to === "string" ? to : undefined;
  return {
    id: view.id,
    capability: envelope.body.capability,
    delegator: envelope.from,
    onBehalfOf: envelope.on_behalf_of,
    recipient: view.attempts.at(-1)?.recipient ?? addressed,
    state: view.state,
    status: view.status,
    attempts: view.attempts.length,
    startedAt: events.find(({ type }) => type === "handoff")?.at ?? Date.parse(envelope.issued_at),
    endedAt: view.state === "open" ? undefined : endOf(recorded, events),
    deadline: view.deadline,
    replayOf: envelope.replay_of,
    startsAt: view.startsAt,
    waitsFor: view.waitsFor ?? [],
    session: envelope.session && { id: envelope.session.id, state: stateOf(recorded) },
    usage: ownUsage(said),
    breaches: overuse(envelope.from, envelope.body.contract, said),
    parentId: envelope.parent_id,
    parties: [envelope.from, ...view.attempts.map(({ recipient }) => recipient)],
    events,
    children: [],
  };
}

/** The recipient's finding outweighs what the hub knew when it offered the handoff. */
function stateOf({ view }: Recorded): SessionState | undefined {
  const ending =
    view.ending === undefined ? undefined : parseEnvelope(readCompact(view.ending).payload);
  const found = ending?.kind === "result" ? ending.body.session : undefined;
  return found ?? view.session;
}

/** When it ended: by the envelope that ended it, or by the hub's decision. */
function endOf({ view, entries }: Recorded, events: readonly TraceEvent[]): number {
  const ending = entries.find(({ content }) => content === view.ending);
  return ending?.at ?? events.at(-1)?.at ?? view.deadline;
}
