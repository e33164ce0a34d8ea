/// <reference types="node" />
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Agent, HandoffHandle } from "@waybill/agent";
import { WaybillError } from "@waybill/protocol";
import { GatewayLost } from "../gateway.ts";
import type { Gateway } from "../gateway.ts";
import { keysIn, textIn } from "../transcript.ts";
import type { TranscriptRow } from "../transcript.ts";
import { endOf, outcomeInWords } from "./ending.ts";
import type { Outcome } from "./ending.ts";
import type { Errand, Errands } from "./errands.ts";
import { Questions } from "./questions.ts";

/** Tells agents how their handoffs end, each in the session that made it, and once. */
export class Announcer {
  readonly #agent: Agent;
  readonly #gateway: Gateway;
  readonly #errands: Errands;
  readonly #warn: (text: string) => void;
  readonly #followed = new Set<string>();

  constructor(agent: Agent, gateway: Gateway, errands: Errands, warn: (text: string) => void) {
    this.#agent = agent;
    this.#gateway = gateway;
    this.#errands = errands;
    this.#warn = warn;
  }

  /** Takes up what an earlier process of the gateway has left. */
  async resume(): Promise<void> {
    for (const errand of await this.#untold(this.#errands.all)) this.announce(errand);
  }

  /** Forgets what the models of a session have been told by their tools. */
  async tidy(sessionKey: string): Promise<void> {
    const isHere = (errand: Errand) => errand.sessionKey === sessionKey;
    await this.#untold(this.#errands.all.filter(isHere));
  }

  async #untold(errands: readonly Errand[]): Promise<Errand[]> {
    const untold: Errand[] = [];
    for (const errand of errands) {
      if (await this.#wasTold(errand)) await this.#errands.remove(errand.handoffId);
      else untold.push(errand);
    }
    return untold;
  }

  /** Announces the end of a handoff, and what it asks until then. */
  announce(errand: Errand, known?: HandoffHandle): void {
    const { handoffId } = errand;
    if (this.#followed.has(handoffId)) return;
    this.#followed.add(handoffId);
    this.#announce(errand, known)
      .catch((error: unknown) => {
        if (error instanceof GatewayLost) return;
        this.#warn(`Handoff ${handoffId} can't be announced: ${String(error)}`);
      })
      .finally(() => this.#followed.delete(handoffId));
  }

  async #announce(errand: Errand, known: HandoffHandle | undefined): Promise<void> {
    const { handoffId } = errand;
    let handle = known;
    try {
      handle ??= await this.#agent.attach(handoffId);
    } catch (error) {
      if (!WaybillError.is(error, 404)) throw error;
      // The gateway was killed before the hub had the handoff: the model knows nothing of it either.
      return this.#errands.remove(handoffId);
    }
    void this.#askFor(errand, handle).catch((error: unknown) => this.#warn(String(error)));
    let end = await endOf(handle);
    while (end.type === "working") {
      await sleep(PAUSE_MS, undefined, { ref: false });
      end = await endOf(await this.#agent.attach(handoffId));
    }
    // A tool that waits for it hands it to the model itself.
    if (this.#errands.isWaitedFor(handoffId)) return;
    await this.#tell(errand, "end", end);
    await this.#errands.remove(handoffId);
  }

  async #askFor(errand: Errand, handle: HandoffHandle): Promise<void> {
    for await (const question of Questions.of(handle).all()) {
      // A tool has handed it to the model, or waits and hands it to the model itself.
      const isTold = errand.told?.includes(question.id) === true;
      if (isTold || this.#errands.isWaitedFor(errand.handoffId)) continue;
      await this.#tell(errand, `question-${question.id}`, { type: "question", question });
    }
  }

  /** Says it in the session, unless it stands there already. A key is sent once, and never again. */
  async #tell({ handoffId, sessionKey }: Errand, what: string, outcome: Outcome): Promise<void> {
    const prefix = `waybill-tells-${handoffId}-${what}-`;
    const isSaid = async () =>
      keysIn(await this.#transcript(sessionKey)).some((key) => key.startsWith(prefix));
    while (!(await isSaid())) {
      const key = `${prefix}${randomUUID()}`;
      await this.#gateway.request("agent", {
        message: outcomeInWords(handoffId, outcome),
        sessionKey,
        idempotencyKey: key,
        deliver: true,
        bestEffortDeliver: true,
      });
      // To the end of the turn: until then the gateway may be killed, and what stands in the transcript
      // is not settled.
      let isOver = false;
      while (!isOver) {
        const waiting = { runId: key, timeoutMs: WAIT_MS };
        const ended = await this.#gateway.request<{ endedAt?: number }>("agent.wait", waiting);
        isOver = ended.endedAt !== undefined;
      }
    }
  }

  /** Whether the model has the end as the answer of its tool, and not as a call that was cut off. */
  async #wasTold({ handoffId, toolCallId, sessionKey }: Errand): Promise<boolean> {
    if (toolCallId === undefined) return false;
    const ended = new RegExp(`^Handoff ${handoffId} (?:is completed|has failed)`);
    const rows = await this.#transcript(sessionKey);
    return rows.some((row) => row.toolCallId === toolCallId && ended.test(textIn(row)));
  }

  async #transcript(sessionKey: string): Promise<readonly TranscriptRow[]> {
    const asked = { sessionKey, limit: 1000 };
    const { messages } = await this.#gateway.request<{ messages: TranscriptRow[] }>(
      "chat.history",
      asked,
    );
    return messages;
  }
}

const WAIT_MS = 15_000;
/** Between two looks for the end of a handoff at a hub that is away. */
const PAUSE_MS = 1_000;
