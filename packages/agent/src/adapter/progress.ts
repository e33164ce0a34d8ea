import { stringifyJson, WaybillError } from "@waybill/protocol";
import type { Json, ProgressBody } from "@waybill/protocol";
import type { Work } from "../serving/work.ts";

const MESSAGE_LENGTH = 65_536;

/**
 * Converts whatever a framework streams to progress: text, the members of progress, or anything else
 * as data.
 */
export function progressOf(event: unknown): ProgressBody {
  if (typeof event === "string") return { message: event.slice(0, MESSAGE_LENGTH) };
  if (isProgress(event)) return event;
  try {
    return { data: JSON.parse(stringifyJson(event)) as Json };
  } catch {
    return { message: String(event).slice(0, MESSAGE_LENGTH) };
  }
}

const MEMBERS: Readonly<Record<string, string>> = {
  message: "string",
  fraction: "number",
  data: "object",
};

function isProgress(event: unknown): event is ProgressBody {
  if (typeof event !== "object" || event === null || Array.isArray(event)) return false;
  const members = Object.entries(event).filter(([, value]) => value !== undefined);
  const isKnown = members.every(
    ([name, value]) => name === "data" || typeof value === MEMBERS[name],
  );
  const { fraction = 0 } = event as ProgressBody;
  return members.length > 0 && isKnown && fraction >= 0 && fraction <= 1;
}

/** Sends progress in order, one at a time, however fast a framework streams. */
export class Progress {
  readonly #work: Work;
  #last: Promise<void> = Promise.resolve();

  constructor(work: Work) {
    this.#work = work;
  }

  report(event: unknown): void {
    const body = progressOf(event);
    this.#last = this.#last.then(async () => {
      try {
        await this.#work.progress(body);
      } catch (error) {
        // The attempt is over, and its signal says so too. Lost progress does not fail the work.
        if (!WaybillError.is(error)) throw error;
      }
    });
    this.#last.catch(() => undefined);
  }

  /** Settles when the hub has everything that was reported. */
  settled(): Promise<void> {
    return this.#last;
  }
}
