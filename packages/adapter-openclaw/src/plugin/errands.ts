/// <reference types="node" />
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";

/** A handoff that an agent has made with the tool, until the agent has its end. */
export interface Errand {
  readonly handoffId: string;
  readonly sessionKey: string;
  /** The call of the tool that hands its end to the model; undefined once it is to be announced. */
  readonly toolCallId: string | undefined;
  /** The questions of the other agent that the model has been told by a tool. */
  readonly told?: readonly string[] | undefined;
}

/** The errands of a gateway, in a file that is replaced as a whole. */
export class Errands {
  readonly #path: string;
  readonly #all = new Map<string, Errand>();
  /** Those that a tool of this process tells the model by itself. */
  readonly #waitedFor = new Set<string>();
  #written: Promise<void> = Promise.resolve();

  private constructor(path: string, all: readonly Errand[]) {
    this.#path = path;
    for (const each of all) this.#all.set(each.handoffId, each);
  }

  static async open(path: string): Promise<Errands> {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    try {
      return new Errands(path, JSON.parse(await readFile(path, "utf8")) as Errand[]);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
      return new Errands(path, []);
    }
  }

  get all(): Errand[] {
    return [...this.#all.values()];
  }

  /** Whether a tool waits for its end, or has told it. A tool of an earlier process was cut off. */
  isWaitedFor(handoffId: string): boolean {
    return this.#waitedFor.has(handoffId);
  }

  /** Settles when it is on disk. */
  put(errand: Errand): Promise<void> {
    this.#all.set(errand.handoffId, errand);
    if (errand.toolCallId === undefined) this.#waitedFor.delete(errand.handoffId);
    else this.#waitedFor.add(errand.handoffId);
    return this.#write();
  }

  remove(handoffId: string): Promise<void> {
    this.#all.delete(handoffId);
    return this.#write();
  }

  #write(): Promise<void> {
    const write = async (): Promise<void> => {
      const draft = `${this.#path}.new`;
      await writeFile(draft, JSON.stringify(this.all), { mode: 0o600, flush: true });
      await rename(draft, this.#path);
    };
    this.#written = this.#written.then(write, write);
    return this.#written;
  }
}
