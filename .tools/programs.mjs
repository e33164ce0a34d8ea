import { spawn } from "node:child_process";
import { once } from "node:events";

/** Longer than anything takes that still goes on. */
const LIMIT_MS = 120_000;

/** A command that runs on while others are started. */
export class Program {
  said = "";
  #isOver = false;
  #heard = () => undefined;

  constructor(command, options) {
    this.command = command;
    this.child = spawn("sh", ["-c", command], { stdio: "pipe", ...options });
    for (const stream of [this.child.stdout, this.child.stderr])
      stream.setEncoding("utf8").on("data", (text) => {
        this.said += text;
        this.#heard();
      });
    // What is typed into one that has ended is missed by who waits for its answer.
    this.child.stdin.on("error", () => undefined);
    this.ended = once(this.child, "close").then(([code, signal]) => {
      this.#isOver = true;
      this.#heard();
      return code ?? signal;
    });
  }

  /** Settles when it has said this. */
  async says(what) {
    const until = Date.now() + LIMIT_MS;
    while (!what.test(this.said)) {
      if (this.#isOver || Date.now() > until)
        throw new Error(`\`${this.command}\` did not say ${what}, but:\n${this.said}`);
      await new Promise((resolve) => {
        const timer = setTimeout(resolve, until - Date.now());
        this.#heard = () => resolve(clearTimeout(timer));
      });
    }
  }

  /** Settles with its exit code, or the signal by which it ended. */
  ends(signal) {
    this.child.kill(signal);
    return this.ended;
  }
}

/** A shell in which one line is typed after the other. */
export class Shell extends Program {
  #count = 0;

  /** Settles with what was said about it, when all of it is done. */
  async types(code) {
    const from = this.said.length;
    const mark = `-- done: ${++this.#count} --`;
    this.child.stdin.write(`${code}\nprintf '\\n%s\\n' '${mark}'\n`);
    await this.says(new RegExp(mark));
    return this.said.slice(from);
  }
}
