/// <reference types="node" />
import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { HubSetup } from "../attack-class.ts";

export interface HubOptions {
  readonly folder: string;
  readonly setup: HubSetup;
  /** The command up to the arguments of the setup. By default `waybill hub`. */
  readonly command?: readonly string[] | undefined;
  readonly environment?: Readonly<Record<string, string>>;
}

const COMMAND = fileURLToPath(
  new URL("src/waybill.ts", import.meta.resolve("waybill/package.json")),
);
const END_WITH_PARENT = new URL("end-with-parent.ts", import.meta.url).href;
const START_WITHIN_MS = 30_000;
const STOP_WITHIN_MS = 10_000;
const SAID_CHARACTERS = 4_000;
const SAMPLE_EACH_MS = 100;
/** `waybill hub` starts again with this setting, except below a channel to its parent, as here. */
const SETTING = { MALLOC_MMAP_THRESHOLD_: String(128 * 1024) };

/** The hub under siege, in its own process, with Node's default memory limit. */
export class HubProcess {
  readonly #options: HubOptions;
  #child: ChildProcess | undefined;
  #url = "";
  #operatorToken = "";
  #port = 0;
  #isEnding = false;
  #said = "";
  #peakMb = 0;
  #sampling: NodeJS.Timeout | undefined;
  /** How often it has ended without being asked to. */
  crashes = 0;

  constructor(options: HubOptions) {
    this.#options = options;
  }

  get url(): string {
    return this.#url;
  }

  get operatorToken(): string {
    return this.#operatorToken;
  }

  get isAlive(): boolean {
    return (
      this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null
    );
  }

  /** The end of its stderr output. */
  get said(): string {
    return this.#said.trim();
  }

  /** Starts it, at the same port as before; returns how many milliseconds that took. */
  async start(): Promise<number> {
    const { folder, setup, command = [COMMAND, "hub"], environment = {} } = this.#options;
    const [program = "", ...words] = command;
    const given = ["--data", folder, "--port", `${this.#port}`, "--json", "--log-level", "error"];
    const preload =
      setup.preload === undefined ? [] : [new URL(`../${setup.preload}`, import.meta.url).href];
    const startedAt = performance.now();
    this.#isEnding = false;
    this.#peakMb = 0;
    const child = fork(program, [...words, ...given, ...(setup.arguments ?? [])], {
      execArgv: [END_WITH_PARENT, ...preload].flatMap((each) => ["--import", each]),
      env: { ...process.env, ...SETTING, ...environment },
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    });
    this.#child = child;
    child.stderr!.setEncoding("utf8").on("data", (text: string) => {
      this.#said = (this.#said + text).slice(-SAID_CHARACTERS);
    });
    clearInterval(this.#sampling);
    this.#sampling = setInterval(() => this.peakMb(), SAMPLE_EACH_MS);
    child.once("exit", () => {
      clearInterval(this.#sampling);
      if (!this.#isEnding) this.crashes++;
    });
    const line = await firstLine(child);
    const { url, operator_token: token } = JSON.parse(line) as Record<string, string>;
    this.#url = url!;
    this.#operatorToken = token!;
    this.#port = Number(new URL(url!).port);
    return performance.now() - startedAt;
  }

  /** Kills it with SIGKILL at any moment. */
  async kill(): Promise<void> {
    await this.#end("SIGKILL");
  }

  /** Shuts it down gracefully, within a time limit. */
  async stop(): Promise<void> {
    const late = setTimeout(() => this.#child?.kill("SIGKILL"), STOP_WITHIN_MS);
    await this.#end("SIGTERM");
    clearTimeout(late);
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    this.#isEnding = true;
    if (!this.isAlive) return;
    const exited = once(this.#child!, "exit");
    this.#child!.kill(signal);
    await exited;
  }

  /** The peak memory of the process since its start, in MB, as far as observed. */
  peakMb(): number {
    try {
      const status = readFileSync(`/proc/${this.#child!.pid}/status`, "utf8");
      const kilobytes = Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0);
      this.#peakMb = Math.max(this.#peakMb, kilobytes / 1024);
    } catch {
      // It has ended.
    }
    return this.#peakMb;
  }
}

async function firstLine(child: ChildProcess): Promise<string> {
  const lines = createInterface({ input: child.stdout! });
  const late = setTimeout(() => child.kill("SIGKILL"), START_WITHIN_MS);
  try {
    const [line] = (await Promise.race([once(lines, "line"), ended(child)])) as [string];
    return line;
  } finally {
    clearTimeout(late);
  }
}

async function ended(child: ChildProcess): Promise<never> {
  const [code, signal] = (await once(child, "exit")) as [number | null, string | null];
  throw new Error(`The hub ended with ${code ?? signal} before it was ready.`);
}
