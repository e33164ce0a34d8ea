import type { WireEntry, WireHandoffView } from "@waybill/protocol/wire";
import { payloadOf } from "./handoffs.ts";
import { get } from "./hub.ts";

/** Something that went from one party to another. */
export interface JobEvent {
  readonly sequence: number;
  readonly at: number;
  readonly from: string;
  readonly to: string;
  readonly handoff: string;
  readonly says: string;
  readonly tone: "quiet" | "good" | "warn" | "bad";
}

/** One attempt at a handoff, from its offer to its end. */
export interface JobAttempt {
  readonly number: number;
  readonly recipient: string;
  readonly from: number;
  /** Undefined while it is under way. */
  readonly until: number | undefined;
  readonly tone: "busy" | "good" | "bad";
  readonly says: string;
}

/** One handoff of a job. */
export interface JobHandoff {
  readonly id: string;
  readonly parent: string | undefined;
  readonly capability: string;
  readonly from: number;
  readonly until: number | undefined;
  readonly deadline: number;
  readonly state: string;
  readonly attempts: readonly JobAttempt[];
  readonly usage: readonly UsageRow[];
}

interface UsageRow {
  readonly model?: string;
  readonly input_tokens?: number;
  readonly output_tokens?: number;
  readonly cost?: { readonly amount: string; readonly currency: string };
}

/** All handoffs under one correlation id, as the hub shows them. */
export interface Job {
  readonly handoffs: readonly JobHandoff[];
  readonly events: readonly JobEvent[];
}

const PAGE = 500;
const AT_ONCE = 6;
const ENTRIES = 200;

/** Reads a job. The record of a handoff that has ended is read only once. */
export class JobReader {
  readonly #id: string;
  readonly #ended = new Map<string, Part>();

  constructor(id: string) {
    this.#id = id;
  }

  async read(signal: AbortSignal, progressed: (read: number, of: number) => void): Promise<Job> {
    const views: WireHandoffView[] = [];
    for (let after = "", isMore = true; isMore;) {
      const page = await get<{ handoffs: WireHandoffView[]; next?: string }>(
        `/v1/handoffs?correlation_id=${encodeURIComponent(this.#id)}&limit=${PAGE}${after}`,
        signal,
      );
      views.push(...page.handoffs);
      after = `&after=${page.next}`;
      isMore = page.next !== undefined;
    }
    const parts: Part[] = [];
    const waiting = views.values();
    const work = async () => {
      for (const view of waiting) {
        parts.push(await this.#part(view, signal));
        progressed(parts.length, views.length);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    return {
      handoffs: parts.map(({ handoff }) => handoff).toSorted((a, b) => a.from - b.from),
      events: parts.flatMap(({ events }) => events).toSorted((a, b) => a.sequence - b.sequence),
    };
  }

  async #part(view: WireHandoffView, signal: AbortSignal): Promise<Part> {
    const known = this.#ended.get(view.id);
    if (known !== undefined) return known;
    const { entries } = await get<{ entries: WireEntry[] }>(
      `/v1/handoffs/${view.id}/history?limit=${ENTRIES}`,
      signal,
    );
    const part = partOf(view, entries);
    if (view.state !== "open") this.#ended.set(view.id, part);
    return part;
  }
}

interface Part {
  readonly handoff: JobHandoff;
  readonly events: readonly JobEvent[];
}

interface OpenAttempt {
  recipient: string;
  from: number;
}

/** Pure: what the entries of one handoff say. */
function partOf(view: WireHandoffView, entries: readonly WireEntry[]): Part {
  const events: JobEvent[] = [];
  const attempts: JobAttempt[] = [];
  let current: OpenAttempt | undefined;
  let delegator = "";
  let capability = "";
  let parent: string | undefined;
  let from = 0;
  let until: number | undefined;
  let usage: readonly UsageRow[] = [];
  const close = (at: number, tone: JobAttempt["tone"], says: string) => {
    if (current === undefined) return;
    attempts.push({ ...current, number: attempts.length + 1, until: at, tone, says });
    current = undefined;
  };
  for (const entry of entries) {
    const at = Date.parse(entry.at);
    const tell = (who: string, to: string, says: string, tone: JobEvent["tone"] = "quiet") =>
      events.push({ sequence: entry.sequence, at, from: who, to, handoff: view.id, says, tone });
    if (entry.type === "decision") {
      const { type, recipient } = JSON.parse(entry.content) as { type: string; recipient?: string };
      if (type === "offer" && recipient !== undefined) {
        current = { recipient, from: at };
        tell(delegator, recipient, `hands off ${capability}`);
      } else if (type === "lease_lost" || type === "unreachable") {
        const says = type === "lease_lost" ? "went silent" : "did not accept";
        tell(current?.recipient ?? "", delegator, says, "bad");
        close(at, "bad", says);
      } else if (type === "expire" || type === "dead_letter") {
        until ??= at;
        tell(delegator, delegator, type === "expire" ? "deadline passed" : "dead letter", "bad");
        close(at, "bad", "out of time");
      } else if (type === "parent_ended" || type === "group_decided") {
        until ??= at;
        close(at, "bad", "no longer needed");
      }
      continue;
    }
    if (entry.type !== "envelope") continue;
    const envelope = payloadOf(entry.content);
    switch (envelope.kind) {
      case "handoff":
        delegator = envelope.from;
        capability = envelope.body.capability;
        parent = envelope.parent_id;
        from = at;
        break;
      case "receipt":
        if (envelope.attempt === undefined) break;
        if (envelope.body.status === 101) tell(envelope.from, delegator, "accepts", "good");
        else {
          tell(envelope.from, delegator, envelope.body.reason ?? "gives it back", "warn");
          close(at, "bad", "given back");
        }
        break;
      case "question":
        tell(envelope.from, delegator, envelope.body.questions[0]?.text ?? "asks", "warn");
        if (envelope.body.state !== undefined) close(at, "busy", "paused");
        break;
      case "answer":
        tell(delegator, current?.recipient ?? envelope.to, "answers");
        break;
      case "cancel":
        tell(delegator, current?.recipient ?? delegator, "cancels", "warn");
        until ??= at;
        close(at, "bad", "cancelled");
        break;
      case "result": {
        const { status, error, usage: used } = envelope.body;
        const hasFailed = status !== 200;
        tell(envelope.from, delegator, error?.message ?? "result", hasFailed ? "bad" : "good");
        close(at, hasFailed ? "bad" : "good", hasFailed ? "failed" : "result");
        usage = (used?.own ?? []) as readonly UsageRow[];
        if (view.state !== "open") until = at;
        break;
      }
      default:
        break;
    }
  }
  if (current !== undefined) {
    attempts.push({
      ...current,
      number: attempts.length + 1,
      until: view.state === "open" ? undefined : until,
      tone: "busy",
      says: "under way",
    });
  }
  const { id, state } = view;
  const deadline = Date.parse(view.deadline);
  return {
    handoff: { id, parent, capability, from, until, deadline, state, attempts, usage },
    events,
  };
}
