/// <reference types="node" />
import type { LedgerEntry } from "@waybill/hub";
import type { NewsroomModel } from "../model/model.ts";
import type { Attempted } from "../staff/imposter.ts";
import { IMPOSTER, VICTIM } from "../staff/staff.ts";
import type { Chronicle } from "../story/chronicle.ts";
import type { StoryEvent } from "../story/event.ts";
import type { Processes } from "./processes.ts";
import { Prying } from "./prying.ts";

/** The faults of the newsroom, and their times. */
export class Faults {
  readonly #processes: Processes;
  readonly #chronicle: Chronicle;
  readonly #prying = new Prying();

  constructor(processes: Processes, chronicle: Chronicle) {
    this.#processes = processes;
    this.#chronicle = chronicle;
  }

  see(entry: LedgerEntry): void {
    this.#prying.see(entry);
  }

  /** Settles with the forgeries after all faults have happened. */
  async all(model: NewsroomModel): Promise<readonly Attempted[]> {
    const [attempted] = await Promise.all([
      this.#forge(),
      this.#killInTheMiddle(model),
      this.#chronicle.until(hasDeadLetter).then(() => model.release()),
    ]);
    return attempted;
  }

  /** Waits until the victim has accepted all its work, and its model has started to speak. */
  async #killInTheMiddle({ isVictimAtWork }: NewsroomModel): Promise<void> {
    const about = `question ${(await isVictimAtWork) + 1}`;
    await this.#chronicle.until(hasAcceptedAll);
    const pid = this.#processes.get(VICTIM)?.pid;
    await this.#processes.kill(VICTIM, "SIGKILL");
    const says = `is killed in the middle of ${about}: kill -9 ${pid}`;
    this.#chronicle.add({ at: Date.now(), who: VICTIM, event: "killed", says, tone: "bad", about });
  }

  async #forge(): Promise<readonly Attempted[]> {
    const prey = await this.#prying.prey;
    const imposter = this.#processes.get(IMPOSTER)!;
    const answered = new Promise<readonly Attempted[]>((resolve) =>
      imposter.once("message", (message: readonly Attempted[]) => resolve(message)),
    );
    imposter.send(prey);
    const attempted = await answered;
    for (const { forgery, status } of attempted) {
      const says = `sends ${forgery}: refused, ${status}`;
      const event = { who: IMPOSTER, event: "refused", says, tone: "bad", status } as const;
      this.#chronicle.add({ at: Date.now(), ...event });
    }
    return attempted;
  }
}

function hasDeadLetter(events: readonly StoryEvent[]): boolean {
  return events.some(({ event }) => event === "dead_lettered");
}

function hasAcceptedAll(events: readonly StoryEvent[]): boolean {
  const offered = events.filter(({ event, to }) => event === "offered" && to === VICTIM);
  const accepted = events.filter(({ event, who }) => event === "accepted" && who === VICTIM);
  return offered.length > 0 && offered.length === accepted.length;
}
