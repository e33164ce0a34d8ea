import { spawn } from "node:child_process";
import { once } from "node:events";

/** Longer than any step takes. */
const LIMIT_MS = 120_000;

/** A command that keeps running while others are started. */
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
    // An ended program can't read its input; whoever waits for its answer reports that.
    this.child.stdin.on("error", () => undefined);
    this.ended = once(this.child, "close").then(([code, signal]) => {
      this.#isOver = true;
      this.#heard();
      return code ?? signal;
    });
  }

  /** Settles when it has printed this. */
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

  /** Settles with its exit code, or the signal that ended it. */
  ends(signal) {
    this.child.kill(signal);
    return this.ended;
  }
}

/** A shell in which lines are typed one after the other. */
export class Shell extends Program {
  #count = 0;

  /** Settles with the output when the line is done. */
  async types(code) {
    const from = this.said.length;
    const mark = `-- done: ${++this.#count} --`;
    this.child.stdin.write(`${code}\nprintf '\\n%s\\n' '${mark}'\n`);
    await this.says(new RegExp(mark));
    return this.said.slice(from);
  }
}
