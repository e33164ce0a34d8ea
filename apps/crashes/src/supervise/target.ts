import type { Server } from "node:net";
import { answerCalls } from "../line/answerer.ts";
import type { EffectLine, Folder } from "../process/folder.ts";
import { Journal } from "../process/journal.ts";

/** An outside system that uses the handoff id as its idempotency key. It is never killed. */
export class Target {
  readonly #journal: Journal<EffectLine>;
  readonly #keys = new Set<string>();
  #server: Server | undefined;
  /** Requests whose key was known. */
  repetitions = 0;

  constructor(folder: Folder) {
    this.#journal = new Journal(folder.effects);
  }

  async open(folder: Folder): Promise<void> {
    this.#server = await answerCalls(folder.targetSocket, () => ({
      answer: async (_call, [key]) => this.#affect(key as string),
      heard: () => undefined,
      gone: () => undefined,
    }));
  }

  #affect(key: string): void {
    if (this.#keys.has(key)) {
      this.repetitions++;
      return;
    }
    this.#keys.add(key);
    this.#journal.append({ at: Date.now(), handoffId: key, key });
  }

  close(): void {
    this.#server?.close();
    this.#journal.close();
  }
}
