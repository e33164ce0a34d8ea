/// <reference types="node" />
import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const PROGRAM = fileURLToPath(new URL("../process/served-hub.ts", import.meta.url));

/** A hub in its own process, which may be killed and started again at the same port. */
export class HubProcess {
  readonly #folder: string;
  #child: ChildProcess | undefined;
  #port = 0;
  /** Serialises restarts. */
  #last: Promise<void> = Promise.resolve();
  kills = 0;

  constructor(folder: string) {
    this.#folder = folder;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  async start(): Promise<void> {
    const child = fork(PROGRAM, [this.#folder, `${this.#port}`]);
    const [said] = (await Promise.race([once(child, "message"), ended(child)])) as [number];
    this.#port = said;
    this.#child = child;
  }

  /** Kills it with SIGKILL at any moment, and starts a new one at once. */
  restart(): void {
    this.#last = this.#last.then(async () => {
      const child = this.#child!;
      child.kill("SIGKILL");
      await once(child, "exit");
      this.kills++;
      await this.start();
    });
  }

  /** Shuts it down gracefully, after all restarts. */
  async stop(): Promise<void> {
    await this.#last;
    const child = this.#child!;
    const exited = once(child, "exit");
    child.disconnect();
    await exited;
  }
}

async function ended(child: ChildProcess): Promise<never> {
  const [code, signal] = (await once(child, "exit")) as [number | null, string | null];
  throw new Error(`The hub ended with ${code ?? signal} before it was ready.`);
}
