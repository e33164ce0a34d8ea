/// <reference types="node" />
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const STOP_WITHIN_MS = 5_000;
const STDERR_KEPT = 4_000;

/** The processes of one newsroom. None of them outlives it. */
export class Processes {
  readonly #running = new Map<string, ChildProcess>();
  readonly #broken = Promise.withResolvers<never>();

  constructor() {
    this.#broken.promise.catch(() => undefined);
    process.once("exit", () => {
      for (const child of this.#running.values()) child.kill("SIGKILL");
    });
  }

  /** Rejects when a process ends by itself. */
  get broken(): Promise<never> {
    return this.#broken.promise;
  }

  get(name: string): ChildProcess | undefined {
    return this.#running.get(name);
  }

  start(
    name: string,
    file: URL,
    args: readonly string[],
    environment: Readonly<Record<string, string>>,
  ): ChildProcess {
    const child = spawn(process.execPath, [fileURLToPath(file), ...args], {
      env: { ...process.env, ...environment },
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    });
    this.#running.set(name, child);
    let said = "";
    child.stderr!.setEncoding("utf8").on("data", (text: string) => {
      said = (said + text).slice(-STDERR_KEPT);
    });
    child.once("exit", (code, signal) => {
      if (!this.#running.delete(name)) return;
      this.#broken.reject(new Error(`${name} ended by itself (${signal ?? code}). ${said.trim()}`));
    });
    return child;
  }

  /** Settles once it has gone. */
  async kill(name: string, signal: NodeJS.Signals): Promise<void> {
    const child = this.#running.get(name);
    if (child === undefined) return;
    this.#running.delete(name);
    const gone = once(child, "exit");
    const late = setTimeout(() => child.kill("SIGKILL"), STOP_WITHIN_MS);
    child.kill(signal);
    await gone;
    clearTimeout(late);
  }

  async stopAll(signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
    await Promise.all([...this.#running.keys()].map((name) => this.kill(name, signal)));
  }
}
