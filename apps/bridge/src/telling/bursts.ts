/// <reference types="node" />
import type { StoryEvent } from "../story/event.ts";

const TOGETHER_MS = 200;
const NEWS: ReadonlySet<StoryEvent["event"]> = new Set([
  "joined",
  "handed_off",
  "replayed",
  "accepted",
  "step",
  "question",
  "answer",
  "result",
  "cancelled",
  "lease_lost",
  "dead_lettered",
  "killed",
  "refused",
]);
/** Not a part of the newsroom: its operator, and the hub's own manifest. */
const OFF_STAGE: ReadonlySet<string> = new Set(["hub", "operator"]);

/** Ten questions handed off at once become one line; repetitive events are dropped. */
export class Bursts {
  readonly #say: (event: StoryEvent) => void;
  readonly #waiting = new Map<string, StoryEvent[]>();
  #timer: NodeJS.Timeout | undefined;

  constructor(say: (event: StoryEvent) => void) {
    this.#say = say;
  }

  take(event: StoryEvent): void {
    if (!isNews(event)) return;
    if (numberIn(event) === undefined || !isRepeated(event)) {
      this.flush();
      this.#say(event);
      return;
    }
    const name = `${event.who} ${event.event}`;
    this.#waiting.set(name, [...(this.#waiting.get(name) ?? []), event]);
    this.#timer ??= setTimeout(() => this.flush(), TOGETHER_MS);
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const events of this.#waiting.values()) this.#say(joined(events));
    this.#waiting.clear();
  }
}

function isNews({ event, who, says }: StoryEvent): boolean {
  if (event === "joined") return !OFF_STAGE.has(who);
  // A first attempt is no news; another one is.
  if (event === "offered") return !says.endsWith("attempt 1");
  return NEWS.has(event);
}

function isRepeated({ event, about = "" }: StoryEvent): boolean {
  return (event === "handed_off" || event === "accepted") && !about.includes("again");
}

function numberIn({ about = "" }: StoryEvent): string | undefined {
  return /^question (\d+)/.exec(about)?.[1];
}

function joined(events: readonly StoryEvent[]): StoryEvent {
  const [first] = events as [StoryEvent];
  if (events.length === 1) return first;
  const numbers = events.map(numberIn).join(", ");
  return { ...first, says: first.says.replace(/question \d+/, `questions ${numbers}`) };
}
