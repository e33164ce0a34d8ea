import type {
  Agent,
  HandoffHandle,
  HandoffOptions,
  QuestionEvent,
  Work as Attempt,
} from "@waybill/agent";
import { digestOf, WaybillError } from "@waybill/protocol";
import type { Digest, HandoffEnvelope } from "@waybill/protocol";
import type { ProcessResources, Delegating, Ending, Work } from "../agent/agent-site.ts";
import type { AgentDisk } from "../agent/agent-disk.ts";
import type { World } from "../world/world.ts";

/** Longer than the difference between clocks: by then the hub can show what it has taken. */
const FINAL_ANSWER_AFTER_MS = 30_000;

/** What an application has on its disk about a handoff that it made. */
export interface TrackedHandoff {
  readonly options: HandoffOptions & { readonly handoffId: string; readonly deadline: Date };
  /** A part of an attempt can't be handed off any more once that attempt is gone. */
  readonly isPart: boolean;
  hasCustody: boolean;
  /** Refused or not found: that is the hub's final answer once the deadline has passed. */
  isGivenUp: boolean;
  /** How it ended, once the application has committed that. */
  ending: string | undefined;
  isAcknowledged: boolean;
}

/** An agent, or one of its attempts. */
type HandingOff = Pick<Agent, "handoff"> & {
  readonly envelope?: Pick<HandoffEnvelope, "deadline">;
};

/** An application that hands off as the documentation asks: id first, acknowledgement last. */
export class RealDelegator implements Delegating {
  readonly #id: string;
  readonly #world: World;
  readonly #resources: ProcessResources;
  readonly #agent: Agent;
  readonly #agentDisk: AgentDisk<TrackedHandoff>;
  readonly #handles = new Map<string, HandoffHandle>();
  readonly #waiting = new Map<string, ((ending: Ending) => void)[]>();

  constructor(
    id: string,
    world: World,
    resources: ProcessResources,
    agent: Agent,
    agentDisk: AgentDisk<TrackedHandoff>,
  ) {
    this.#id = id;
    this.#world = world;
    this.#resources = resources;
    this.#agent = agent;
    this.#agentDisk = agentDisk;
  }

  newId(): string {
    return this.#resources.process.newId();
  }

  /** After a restart, continues with handoffs that are not acknowledged yet. */
  resume(): void {
    for (const tracked of this.#agentDisk.notes.values()) {
      if (tracked.isAcknowledged || this.#handles.has(tracked.options.handoffId)) continue;
      if (tracked.isGivenUp) this.#guard(this.#lookAgain(tracked));
      else this.#guard(this.#pursue(tracked, tracked.isPart ? undefined : this.#agent));
    }
  }

  handOff(work: Work): Promise<HandoffEnvelope | undefined> {
    return this.#commit(work, this.newId(), undefined);
  }

  /** With the number of a step, every attempt of this agent gives the child the same id. */
  handOffPart(
    work: Work,
    attempt: Attempt,
    step: number | undefined,
  ): Promise<HandoffEnvelope | undefined> {
    const id = step === undefined ? this.newId() : partOf(attempt.handoffId, `${this.#id} ${step}`);
    return this.#commit(work, id, attempt);
  }

  async #commit(
    work: Work,
    handoffId: string,
    attempt: Attempt | undefined,
  ): Promise<HandoffEnvelope | undefined> {
    const { notes } = this.#agentDisk;
    const { process } = this.#resources;
    let tracked = notes.get(handoffId);
    if (tracked === undefined || tracked.isGivenUp) {
      tracked = {
        options: this.#optionsOf(work, handoffId),
        isPart: attempt !== undefined,
        hasCustody: false,
        isGivenUp: false,
        ending: undefined,
        isAcknowledged: false,
      };
      const { deadline } = tracked.options;
      this.#world.lastDeadline = Math.max(this.#world.lastDeadline, deadline.getTime());
      const made = tracked;
      await this.#agentDisk.write(process, () => notes.set(handoffId, made));
    }
    this.#world.trace.note(`${this.#id} hands off ${handoffId}`);
    const handoff = await this.#pursue(tracked, attempt ?? this.#agent);
    if (handoff !== undefined && this.#resources.random.chance(0.04))
      this.#guard(this.#contradict(tracked));
    return handoff;
  }

  #optionsOf(work: Work, handoffId: string): TrackedHandoff["options"] {
    const { to, body, timeoutMs, correlationId, group, replayOf, traceparent } = work;
    const { startsInMs, priority, session } = work;
    const startsAt = this.#resources.process.clock.now() + (startsInMs ?? 0);
    return {
      handoffId,
      to: typeof to === "string" ? to : undefined,
      capability: body.capability,
      input: body.input,
      contract: body.contract,
      ...(startsInMs !== undefined && { notBefore: new Date(startsAt) }),
      priority,
      ...(session !== undefined && {
        session: { id: session.id, waitMs: (session.wait_seconds ?? 0) * 1_000 },
      }),
      deadline: new Date(startsAt + timeoutMs!),
      correlationId,
      group,
      replayOf,
      traceparent,
      acknowledge: this.#resources.random.chance(0.7) ? "manual" : "auto",
    };
  }

  /** The same handoff with other content must be refused, whatever the state of the first. */
  async #contradict({ options }: TrackedHandoff): Promise<void> {
    try {
      await this.#agent.handoff({ ...options, input: "other" }).custody;
    } catch (error) {
      if ([409, 503, 504].includes(WaybillError.from(error).status)) return;
      throw error;
    }
    const message = "A second content under the same handoff id went into custody.";
    this.#world.breach("conflict_taken", options.handoffId, message);
  }

  /** Until it is in custody or refused finally; its outcome is then followed separately. */
  async #pursue(
    tracked: TrackedHandoff,
    by: HandingOff | undefined,
    isLastLook = false,
  ): Promise<HandoffEnvelope | undefined> {
    const { handoffId } = tracked.options;
    for (;;) {
      try {
        const handle = await this.#handleOf(tracked, by);
        await handle.custody;
        // A later attempt has made it again meanwhile, and follows it.
        if (this.#agentDisk.notes.get(handoffId) !== tracked) return undefined;
        tracked.hasCustody = true;
        tracked.isGivenUp = false;
        const isNew = this.#handles.get(handoffId) === undefined;
        this.#handles.set(handoffId, handle);
        if (isNew) this.#guard(this.#follow(tracked, handle));
        return handle.envelope;
      } catch (error) {
        const refusal = WaybillError.from(error);
        // A missing answer at the deadline does not say what the hub has.
        const isUntold = refusal.status === 504 && tracked.hasCustody;
        if (refusal.status !== 503 && !isUntold) return this.#refused(tracked, refusal, isLastLook);
      }
      await this.#resources.process.sleep(this.#resources.random.between(100, 2_000));
    }
  }

  /**
   * Before its deadline it is handed off, again if necessary; later only the hub knows whether it has
   * it.
   */
  async #handleOf(tracked: TrackedHandoff, by: HandingOff | undefined): Promise<HandoffHandle> {
    const { process, random } = this.#resources;
    const { handoffId, deadline, acknowledge } = tracked.options;
    // A child's deadline is never later than its parent's.
    const parents = by?.envelope === undefined ? Infinity : Date.parse(by.envelope.deadline);
    const isLate = process.clock.now() >= Math.min(deadline.getTime(), parents);
    const isFound = tracked.hasCustody && random.chance(0.5);
    if (by === undefined || isLate || isFound) {
      return this.#agent.attach(handoffId, { acknowledge });
    }
    return by.handoff(tracked.options);
  }

  /** Of two concurrent submissions of the same work both may be refused: only the last check is final. */
  #refused(tracked: TrackedHandoff, refusal: WaybillError, isLastLook: boolean): undefined {
    const { handoffId } = tracked.options;
    this.#world.trace.note(`${this.#id} is refused ${handoffId}: ${refusal.status}`);
    if (tracked.hasCustody) {
      const message = `It was in custody, and now it is refused with ${refusal.status}: ${refusal.message}`;
      this.#world.breach("taken_then_refused", handoffId, message);
    } else if (isLastLook) {
      if (this.#agentDisk.notes.get(handoffId) === tracked) this.#agentDisk.notes.delete(handoffId);
    } else if (!tracked.isGivenUp) {
      tracked.isGivenUp = true;
      this.#guard(this.#lookAgain(tracked));
    }
  }

  /** Another copy, perhaps from before a crash, may have been in flight, and may have arrived after all. */
  async #lookAgain(tracked: TrackedHandoff): Promise<void> {
    const { handoffId, deadline } = tracked.options;
    const { process } = this.#resources;
    await process.sleep(deadline.getTime() + FINAL_ANSWER_AFTER_MS - process.clock.now());
    if (this.#agentDisk.notes.get(handoffId) === tracked)
      await this.#pursue(tracked, undefined, true);
  }

  async #follow(tracked: TrackedHandoff, handle: HandoffHandle): Promise<void> {
    this.#guard(this.#answerAll(tracked, handle));
    const end = await handle.result.then(
      ({ digest }) => ({ name: digest, digest }),
      (error: unknown) => ({ name: `error ${WaybillError.from(error).status}`, digest: undefined }),
    );
    if (!handle.hasEnded) {
      // The deadline has passed here, and the hub has not reported the outcome: it is asked again.
      this.#handles.delete(handle.id);
      await this.#pursue(tracked, undefined);
      return;
    }
    await this.#conclude(tracked, end.name, end.digest);
    for (;;) {
      try {
        await handle.acknowledge();
        break;
      } catch (error) {
        const { status, message } = WaybillError.from(error);
        if (status !== 503) {
          return this.#world.breach("acknowledgement_refused", handle.id, message);
        }
      }
      await this.#resources.process.sleep(this.#resources.random.between(100, 2_000));
    }
    tracked.isAcknowledged = true;
  }

  async #conclude(
    tracked: TrackedHandoff,
    name: string,
    digest: Digest | undefined,
  ): Promise<void> {
    const { handoffId } = tracked.options;
    if (tracked.ending !== undefined && tracked.ending !== name) {
      const message = `${this.#id} was told of the end ${tracked.ending}, then of ${name}.`;
      this.#world.breach("ended_twice", handoffId, message);
    } else if (tracked.ending === undefined) {
      await this.#agentDisk.write(this.#resources.process, () => {
        tracked.ending = name;
        const { now } = this.#world;
        this.#world.trace.note(`${this.#id} commits the end of ${handoffId}: ${name}`);
        if (digest === undefined) return;
        const applied = { type: "applied", at: now, handoff_id: handoffId, digest } as const;
        this.#world.observe({ ...applied, by: this.#id });
      });
    }
    for (const tell of this.#waiting.get(handoffId) ?? []) tell(endingOf(name));
    this.#waiting.delete(handoffId);
  }

  async #answerAll(tracked: TrackedHandoff, handle: HandoffHandle): Promise<void> {
    for await (const question of handle.questions) {
      if (tracked.ending !== undefined || this.#resources.random.chance(0.05)) continue;
      this.#guard(this.#answer(handle, question));
    }
  }

  async #answer(handle: HandoffHandle, { id }: QuestionEvent): Promise<void> {
    const { process, random } = this.#resources;
    await process.sleep(random.spread(1, 8_000));
    try {
      await handle.answer(id, `answer to ${id}`);
    } catch (error) {
      this.#world.trace.note(`${this.#id} can't answer ${handle.id}: ${String(error)}`);
    }
  }

  async cancel({ handoff_id: handoffId }: HandoffEnvelope): Promise<void> {
    this.#world.trace.note(`${this.#id} cancels ${handoffId}`);
    try {
      await this.#handles.get(handoffId)?.cancel("not wanted any more");
    } catch (error) {
      this.#world.trace.note(`${this.#id} can't cancel ${handoffId}: ${String(error)}`);
    }
  }

  endOf(handoffId: string): Promise<Ending> {
    const ending = this.#agentDisk.notes.get(handoffId)?.ending;
    if (ending !== undefined) return Promise.resolve(endingOf(ending));
    return new Promise((resolve) => {
      this.#waiting.set(handoffId, [...(this.#waiting.get(handoffId) ?? []), resolve]);
    });
  }

  #guard(work: Promise<unknown>): void {
    work.catch((error: unknown) => this.#world.fault(error));
  }
}

function endingOf(name: string): Ending {
  return { isSuccess: !name.startsWith("error ") };
}

/** The same id for the same child, in the format of ids. */
function partOf(handoffId: string, name: string): string {
  const hex = digestOf(`part ${name} of ${handoffId}`).slice("sha256:".length);
  return `${handoffId.slice(0, 14)}7${hex.slice(0, 3)}-8${hex.slice(3, 6)}-${hex.slice(6, 18)}`;
}
