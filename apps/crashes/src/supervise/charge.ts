/// <reference types="node" />
import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { folderAt } from "../process/folder.ts";
import type { ProcessReport } from "../process/life.ts";

export interface ChargeOptions {
  readonly name: string;
  readonly module: URL;
  /** The folder of the run, and further arguments of the module. */
  readonly given: readonly [string, ...string[]];
  readonly told: (told: ProcessReport) => void;
  /** Called when it ended without having been killed. */
  readonly fell: (message: string) => void;
}

/** From the kill of a process until its next life is ready. */
export interface Outage {
  readonly name: string;
  readonly from: number;
  readonly until: number;
}

/** One process of a run, in all its lives: whenever it is killed, it is started again at once. */
export class Charge {
  readonly #options: ChargeOptions;
  #child: ChildProcess;
  #wasKilled = false;
  #isOver = false;
  readonly outages: Outage[] = [];
  /** True once its current life is ready. */
  isReady = false;

  constructor(options: ChargeOptions) {
    this.#options = options;
    this.#child = this.#start();
  }

  #start(): ChildProcess {
    const { module, given, told, name, fell } = this.#options;
    const child = fork(module, given, {
      execArgv: [],
      stdio: ["ignore", "inherit", "inherit", "ipc"],
      env: { ...process.env, NODE_COMPILE_CACHE: folderAt(given[0]).compiled },
    });
    this.isReady = false;
    child.on("message", (message) => {
      if (child !== this.#child) return;
      if ((message as ProcessReport).type === "ready") this.#began();
      told(message as ProcessReport);
    });
    child.once("exit", (code, signal) => {
      if (this.#isOver) return;
      if (!this.#wasKilled) return fell(`${name} ended by itself (${signal ?? code}).`);
      this.#wasKilled = false;
      this.#child = this.#start();
    });
    return child;
  }

  #began(): void {
    this.isReady = true;
    const outage = this.outages.pop();
    if (outage !== undefined) this.outages.push({ ...outage, until: Date.now() });
  }

  /**
   * Kills it at any moment, as the system does when memory runs out. Settles when its next life has
   * started.
   */
  async kill(): Promise<void> {
    this.outages.push({ name: this.#options.name, from: Date.now(), until: Infinity });
    this.#wasKilled = true;
    const child = this.#child;
    child.kill("SIGKILL");
    if (child.exitCode !== null || child.signalCode !== null) return;
    await new Promise((resolve) => child.once("exit", resolve));
  }

  send(message: string): void {
    if (this.#child.connected) this.#child.send(message);
  }

  async end(): Promise<void> {
    this.#isOver = true;
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = new Promise<void>((resolve) => this.#child.once("exit", () => resolve()));
    this.#child.kill("SIGKILL");
    await ended;
  }
}
