/// <reference types="node" />
import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { FromHonest, PhaseReport, ToHonest } from "../honest/messages.ts";

const PROGRAM = fileURLToPath(new URL("../honest/honest.ts", import.meta.url));

export type Joined = Extract<FromHonest, { type: "joined" }>;

/** The honest pair, as a process of the siege. */
export class HonestProcess {
  readonly #child: ChildProcess;
  /** The waiters for messages, by type, in order. */
  readonly #waiting = new Map<string, PromiseWithResolvers<FromHonest>[]>();

  private constructor(child: ChildProcess) {
    this.#child = child;
    child.on("message", (message: FromHonest) => {
      this.#waiting.get(message.type)?.shift()?.resolve(message);
    });
    child.once("exit", () => {
      for (const { reject } of [...this.#waiting.values()].flat()) {
        reject(new Error("The honest pair has ended by itself."));
      }
    });
  }

  /** Settles when both are attached and hand off. */
  static async start(
    url: string,
    environment: Record<string, string> = {},
  ): Promise<HonestProcess> {
    const child = fork(PROGRAM, [url], { env: { ...process.env, ...environment }, execArgv: [] });
    const honest = new HonestProcess(child);
    await honest.#hear("ready");
    return honest;
  }

  /** Settles when new handoffs belong to this phase. */
  async begin(name: string): Promise<void> {
    this.#tell({ type: "phase", name });
    await this.#hear("begun");
  }

  async report(name: string, withinMs: number): Promise<PhaseReport> {
    this.#tell({ type: "report", name, withinMs });
    return (await this.#hear("reported")).report;
  }

  /** How long a new agent waited for its result, in milliseconds. */
  async join(withinMs: number): Promise<Joined> {
    this.#tell({ type: "join", withinMs });
    return this.#hear("joined");
  }

  async end(): Promise<void> {
    const exited = once(this.#child, "exit");
    this.#tell({ type: "end" });
    await exited;
  }

  #tell(message: ToHonest): void {
    this.#child.send(message);
  }

  async #hear<Type extends FromHonest["type"]>(
    type: Type,
  ): Promise<Extract<FromHonest, { type: Type }>> {
    const waiter = Promise.withResolvers<FromHonest>();
    this.#waiting.set(type, [...(this.#waiting.get(type) ?? []), waiter]);
    return (await waiter.promise) as Extract<FromHonest, { type: Type }>;
  }
}
