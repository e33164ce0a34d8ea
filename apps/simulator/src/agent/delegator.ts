import { createHandoff, createReply, digestOfJws, signEnvelope } from "@waybill/protocol";
import type { Digest, Envelope, HandoffEnvelope } from "@waybill/protocol";
import { DOMAIN, HUB_ID } from "../hub/hub-site.ts";
import type { Delegating, Ending, Work } from "./agent-site.ts";
import type { HandoffNote } from "./handoff-note.ts";
import type { Running } from "./running.ts";

const ACKNOWLEDGED_AT_ONCE = 8;

type EndedNote = HandoffNote & { readonly ending: Digest };

/** The side of an agent that hands work off and waits for the outcome. */
export class Delegator implements Delegating {
  readonly #agent: Running;
  readonly #waiting = new Map<string, ((ending: Ending) => void)[]>();
  /** Ends that are being committed. */
  readonly #concluding = new Set<string>();

  constructor(agent: Running) {
    this.#agent = agent;
  }

  newId(): string {
    return this.#agent.source.newId();
  }

  /** After a restart, submits committed handoffs without a receipt again. */
  async resume(): Promise<void> {
    const open = [...this.#agent.agentDisk.notes.values()].filter((note) => !note.isAcknowledged);
    await Promise.all(
      open.map(async (note) => {
        if (!note.hasReceipt) await this.#submit(note);
        if (note.ending !== undefined) await this.#acknowledge(note, note.ending);
      }),
    );
  }

  /** Commits to a handoff and submits it to the hub; undefined if the hub refuses it. */
  async handOff({ startsInMs, ...work }: Work): Promise<HandoffEnvelope | undefined> {
    const { id, key, source, agentDisk, process, world, random } = this.#agent;
    const notBefore = startsInMs === undefined ? undefined : new Date(source.now() + startsInMs);
    const envelope = createHandoff({ ...work, notBefore, from: id, domain: DOMAIN }, source);
    const text = signEnvelope(envelope, key);
    const { handoff_id: handoffId } = envelope;
    const note: HandoffNote = {
      text,
      digest: digestOfJws(text),
      envelope,
      hasReceipt: false,
      ending: undefined,
      isAcknowledged: false,
    };
    world.lastDeadline = Math.max(world.lastDeadline, Date.parse(envelope.deadline));
    await agentDisk.write(process, () => agentDisk.notes.set(handoffId, note));
    world.trace.note(`${id} hands off ${handoffId}`);
    if (random.chance(0.1)) this.#inParallel(this.#submit(note));
    const isTaken = await this.#submit(note);
    if (isTaken && random.chance(0.04)) this.#inParallel(this.#contradict(note));
    return isTaken ? envelope : undefined;
  }

  async #submit(note: HandoffNote): Promise<boolean> {
    const { id, world } = this.#agent;
    const { handoff_id: handoffId } = note.envelope;
    const wasTaken = note.hasReceipt;
    const refusal = await this.#agent.sendText(note.text);
    if (refusal === undefined) {
      note.hasReceipt = true;
      return true;
    }
    world.trace.note(`${id} is refused ${handoffId}: ${refusal.status}`);
    // Of two concurrent copies, one may be too late and the other not.
    if (wasTaken && refusal.status !== 503) {
      const message = `The same bytes were taken before and are refused with ${refusal.status} now.`;
      world.breach("taken_then_refused", handoffId, message);
    }
    return note.hasReceipt;
  }

  /** The same handoff with other content must be refused, whatever the state of the first. */
  async #contradict({ envelope }: HandoffNote): Promise<void> {
    const { world } = this.#agent;
    const other = {
      ...envelope,
      id: this.#agent.source.newId(),
      body: { ...envelope.body, input: "other" },
    };
    const refusal = await this.#agent.send(other);
    if (refusal?.status === 409 || refusal?.status === 503) return;
    const message = `A second content under the same handoff id was answered ${refusal?.status ?? "100"}.`;
    world.breach("conflict_taken", envelope.handoff_id, message);
  }

  async cancel(envelope: HandoffEnvelope): Promise<void> {
    const { id, source, world } = this.#agent;
    world.trace.note(`${id} cancels ${envelope.handoff_id}`);
    const body = { reason: "not wanted any more" };
    await this.#agent.send(
      createReply(envelope, { kind: "cancel", from: id, to: HUB_ID, body }, source),
    );
  }

  /** Settles when the handoff has ended and its end is committed here. */
  endOf(handoffId: string): Promise<Ending> {
    return new Promise((resolve) => {
      this.#waiting.set(handoffId, [...(this.#waiting.get(handoffId) ?? []), resolve]);
    });
  }

  async receive(envelope: Envelope, digest: Digest): Promise<void> {
    const note = this.#agent.agentDisk.notes.get(envelope.handoff_id);
    if (note === undefined) {
      this.#agent.world.breach(
        "delivered_to_nobody",
        envelope.handoff_id,
        `${this.#agent.id} knows no such handoff.`,
      );
      return;
    }
    note.hasReceipt = true;
    if (envelope.kind === "question") return this.#answer(note, envelope, digest);
    if (isEnding(envelope)) await this.#conclude(note, envelope, digest);
  }

  async #answer(
    { envelope: handoff, ending }: HandoffNote,
    question: Extract<Envelope, { kind: "question" }>,
    re: Digest,
  ): Promise<void> {
    const { id, random, process, source } = this.#agent;
    if (ending !== undefined || random.chance(0.05)) return;
    await process.sleep(random.spread(1, 8_000));
    await Promise.all(
      question.body.questions.map((asked) => {
        const body = { question_id: asked.id, answer: `answer to ${asked.id}` };
        const { from: to } = question;
        const answer = createReply(handoff, { kind: "answer", from: id, to, re, body }, source);
        return this.#agent.send(answer, Date.parse(handoff.deadline));
      }),
    );
  }

  async #conclude(note: HandoffNote, envelope: Envelope, digest: Digest): Promise<void> {
    const { id, agentDisk, process, world } = this.#agent;
    const { handoff_id: handoffId } = envelope;
    if (note.ending !== undefined && note.ending !== digest) {
      world.breach(
        "ended_twice",
        handoffId,
        `${id} was told of the end ${note.ending}, then of ${digest}.`,
      );
      return;
    }
    if (this.#concluding.has(handoffId)) return;
    if (note.ending === undefined) {
      this.#concluding.add(handoffId);
      await agentDisk.write(process, () => {
        note.ending = digest;
        world.trace.note(`${id} commits the end of ${handoffId}: ${envelope.kind}`);
        if (envelope.kind !== "result") return;
        world.observe({ type: "applied", at: world.now, handoff_id: handoffId, digest, by: id });
      });
      this.#concluding.delete(handoffId);
      const isSuccess = envelope.kind === "result" && envelope.body.status === 200;
      for (const tell of this.#waiting.get(handoffId) ?? []) tell({ isSuccess });
      this.#waiting.delete(handoffId);
    }
    await this.#acknowledge(note, digest);
  }

  async #acknowledge(note: HandoffNote, re: Digest): Promise<void> {
    if (note.isAcknowledged) return;
    const { id, source, world, random } = this.#agent;
    const others = random.chance(0.5) ? this.#unacknowledged(note) : [];
    const also = others.map(({ envelope, ending }) => ({
      handoff_id: envelope.handoff_id,
      re: ending,
    }));
    const body = { status: 200, ...(also.length > 0 && { also }) } as const;
    const refusal = await this.#agent.send(
      createReply(note.envelope, { kind: "receipt", from: id, to: HUB_ID, re, body }, source),
      Infinity,
    );
    if (refusal === undefined) for (const each of [note, ...others]) each.isAcknowledged = true;
    else world.breach("acknowledgement_refused", note.envelope.handoff_id, refusal.message);
  }

  /** Other handoffs whose end is committed here. Some are being acknowledged alone at the same time. */
  #unacknowledged(note: HandoffNote): EndedNote[] {
    const notes = [...this.#agent.agentDisk.notes.values()];
    const isOther = (each: HandoffNote): each is EndedNote =>
      each !== note && each.ending !== undefined && !each.isAcknowledged;
    return notes.filter(isOther).slice(0, ACKNOWLEDGED_AT_ONCE);
  }

  #inParallel(work: Promise<unknown>): void {
    work.catch((error: unknown) => this.#agent.world.fault(error));
  }
}

/** A rejection reaches the delegator only if no other agent is offered the handoff. */
function isEnding(envelope: Envelope): boolean {
  const { kind } = envelope;
  if (kind === "receipt") return envelope.body.status >= 400;
  return kind === "result" || kind === "cancel" || kind === "notice";
}
