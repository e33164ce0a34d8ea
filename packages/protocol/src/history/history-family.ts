import type { Digest } from "../signing/digest.ts";
import type { Group, HandoffEnvelope } from "../envelope/envelope.ts";
import type { Handoff } from "../lifecycle/handoff.ts";
import { isGroupOver, judgeGroup } from "../lifecycle/group.ts";
import { violated } from "./history-record.ts";
import type { HandoffRecord, History } from "./history-record.ts";

/** Opens the record of a handoff, and checks its parent and its index in its group. */
export function recordOf(
  history: History,
  envelope: HandoffEnvelope,
  digest: Digest,
  state: Handoff,
): HandoffRecord {
  const record: HandoffRecord = {
    id: envelope.handoff_id,
    digest,
    delegator: envelope.from,
    correlationId: envelope.correlation_id,
    traceId: traceIdOf(envelope.traceparent),
    parentId: envelope.parent_id,
    group: envelope.group,
    deadline: Date.parse(envelope.deadline),
    state,
    offers: [],
    taken: new Map(),
    end: undefined,
    isApplied: false,
    hasEffect: false,
  };
  const parent = record.parentId === undefined ? undefined : history.records.get(record.parentId);
  if (parent !== undefined) checkChild(history, record, parent);
  if (envelope.group !== undefined) checkGroup(history, record, envelope, envelope.group);
  return record;
}

/** A member that its group still needs must not be ended. */
export function checkGroupDecided(history: History, record: HandoffRecord): void {
  const { group, delegator } = record;
  const members = history.groups.get(`${delegator}\n${group?.id ?? ""}`)?.members ?? new Map();
  const states = [...members.values()].map((id: string) => history.records.get(id)!.state.state);
  if (group !== undefined && isGroupOver(judgeGroup(states, group), group.on_failure)) return;
  const message = "It was cancelled with its group, which is not decided.";
  violated(history, "group_not_decided", record.id, message);
}

/** The trace id of a W3C traceparent, which all spans of a job share. */
export function traceIdOf(traceparent: string | undefined): string | undefined {
  return traceparent?.split("-")[1];
}

function checkChild(history: History, child: HandoffRecord, parent: HandoffRecord): void {
  if (child.deadline > parent.deadline) {
    const late = `${child.deadline - parent.deadline} ms after the deadline of its parent ${parent.id}`;
    violated(history, "child_outlives_parent", child.id, `Its deadline is ${late}.`);
  }
  if (child.correlationId !== parent.correlationId) {
    const message = `It is under correlation id ${child.correlationId}, its parent ${parent.id} under ${parent.correlationId}.`;
    violated(history, "child_correlation_differs", child.id, message);
  }
  if (parent.traceId !== undefined && child.traceId !== parent.traceId) {
    const message = `Its trace is ${child.traceId ?? "missing"}, that of its parent ${parent.id} is ${parent.traceId}.`;
    violated(history, "child_trace_differs", child.id, message);
  }
}

function checkGroup(
  history: History,
  record: HandoffRecord,
  envelope: HandoffEnvelope,
  { id, index, size, join, quorum }: Group,
): void {
  const { correlationId } = record;
  // Another delegator's group with the same id is another group.
  const key = `${record.delegator}\n${id}`;
  let group = history.groups.get(key);
  if (group === undefined) {
    group = { size, join, quorum, correlationId, members: new Map() };
    history.groups.set(key, group);
  }
  const isSame =
    group.size === size &&
    group.join === join &&
    group.quorum === quorum &&
    group.correlationId === correlationId;
  if (!isSame) {
    const message = `Its size, join or correlation id is not that of the group ${id} so far.`;
    violated(history, "group_differs", record.id, message);
  }
  if (!Number.isInteger(index) || index < 0 || index >= group.size) {
    const message = `Its index ${index} is not below the size ${group.size} of the group ${id}.`;
    violated(history, "group_index_out_of_range", record.id, message);
  }
  const holder = group.members.get(index);
  if (holder !== undefined && holder !== envelope.replay_of) {
    const message = `The index ${index} of the group ${id} is taken by the handoff ${holder}.`;
    violated(history, "group_index_taken", record.id, message);
  }
  group.members.set(index, record.id);
}
