/// <reference types="node" />
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const COMMAND = fileURLToPath(new URL("waybill.ts", import.meta.url));
const MANY_COMMANDS = fileURLToPath(new URL("many-commands-fixture.ts", import.meta.url));

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly child: ChildProcess;
  /** The next line of stdout; rejects with the whole output if the process has ended. */
  line(): Promise<string>;
  ended(): Promise<Ran>;
}

/** An empty folder in which the real command runs. */
export class Workplace {
  readonly folder: string = mkdtempSync(join(tmpdir(), "waybill-cli-"));
  readonly #running: ChildProcess[] = [];

  path(...names: string[]): string {
    return join(this.folder, ...names);
  }

  /** The umask of started commands, in octal; by default that of the tests. */
  umask: string | undefined;

  start(words: readonly string[], env: Record<string, string> = {}): Running {
    return this.#start([COMMAND, ...words], env);
  }

  /** Starts another of our programs, such as an agent that is to be killed. */
  startScript(url: URL, words: readonly string[]): Running {
    return this.#start([fileURLToPath(url), ...words], {});
  }

  #start(words: readonly string[], env: Record<string, string>): Running {
    const { WAYBILL_HUB: _hub, NO_COLOR: _no, FORCE_COLOR: _force, ...inherited } = process.env;
    const command = [process.execPath, ...words];
    const masked = ["sh", "-c", 'umask "$0"; exec "$@"', this.umask ?? "", ...command];
    const [program, ...rest] = this.umask === undefined ? command : masked;
    const child = spawn(program!, rest, {
      cwd: this.folder,
      env: { ...inherited, ...env },
      stdio: ["pipe", "pipe", "pipe"],
    });
    this.#running.push(child);
    return running(child);
  }

  async run(
    words: readonly string[],
    options: { env?: Record<string, string>; input?: string } = {},
  ): Promise<Ran> {
    const started = this.start(words, options.env);
    started.child.stdin!.end(options.input ?? "");
    return started.ended();
  }

  /** Runs several commands in one process, which is much faster; each behaves as in its own process. */
  async runAll(
    lines: readonly (readonly string[])[],
    env: Record<string, string> = {},
  ): Promise<readonly Ran[]> {
    const started = this.#start([MANY_COMMANDS, JSON.stringify(lines)], env);
    started.child.stdin!.end();
    const { stdout, stderr } = await started.ended();
    const [out, err] = [stdout.split("\0"), stderr.split("\0")];
    return lines.map((words, index) => {
      const code = out[2 * index + 1];
      if (code === undefined) throw new Error(`${words.join(" ")} did not end: ${stderr}`);
      return { code: Number(code), stdout: out[2 * index]!, stderr: err[2 * index]! };
    });
  }

  /** The answer of a command with `--json`. */
  async json(words: readonly string[]): Promise<unknown> {
    const { stdout, stderr } = await this.run([...words, "--json"]);
    if (stdout === "") throw new Error(stderr);
    return JSON.parse(stdout);
  }

  /** The answers of a command with `--json`, line by line. */
  async jsonLines(words: readonly string[]): Promise<readonly Record<string, unknown>[]> {
    const { stdout } = await this.run([...words, "--json"]);
    return stdout
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  async close(): Promise<void> {
    for (const child of this.#running) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      child.kill("SIGKILL");
      await once(child, "exit");
    }
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function running(child: ChildProcess): Running {
  let stdout = "";
  let stderr = "";
  const waiting: string[] = [];
  let wake = () => undefined as void;
  child.stdout!.setEncoding("utf8").on("data", (piece: string) => (stdout += piece));
  child.stderr!.setEncoding("utf8").on("data", (piece: string) => (stderr += piece));
  createInterface({ input: child.stdout! }).on("line", (line) => {
    waiting.push(line);
    wake();
  });
  const closed = once(child, "close").then(([code]): Ran => ({
    code: (code as number | null) ?? -1,
    stdout,
    stderr,
  }));
  let isClosed = false;
  void closed.then(() => {
    isClosed = true;
    wake();
  });
  return {
    child,
    async line() {
      while (waiting.length === 0) {
        if (isClosed) throw new Error(`It ended and said: ${stdout}${stderr}`);
        await new Promise<void>((resolve) => (wake = resolve));
      }
      return waiting.shift()!;
    },
    ended: () => closed,
  };
}

export interface Dev {
  readonly url: string;
  readonly unix_url?: string;
  readonly operator_token: string;
  readonly database: string;
  readonly running: Running;
  stop(signal?: NodeJS.Signals): Promise<Ran>;
}

/** `waybill dev` on a free port, ready when this settles. */
export async function startDev(
  place: Workplace,
  words: readonly string[] = ["--port", "0"],
): Promise<Dev> {
  const started = place.start(["dev", "--json", ...words]);
  const first = JSON.parse(await started.line()) as Omit<Dev, "running" | "stop">;
  return {
    ...first,
    running: started,
    stop(signal = "SIGTERM") {
      started.child.kill(signal);
      return started.ended();
    },
  };
}
