/// <reference types="node" />
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

export interface Child {
  /** Its message when it was ready. */
  readonly said: string;
  stop(): Promise<void>;
}

/** Starts a program of this folder in its own process, and waits until it is ready. */
export async function startChild(program: string, ...args: string[]): Promise<Child> {
  const path = fileURLToPath(new URL(program, import.meta.url));
  const child = fork(path, args, { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  const exited = once(child, "exit");
  const [said] = (await Promise.race([once(child, "message"), ended(program, exited)])) as [string];
  return {
    said,
    async stop() {
      child.disconnect();
      await exited;
    },
  };
}

async function ended(program: string, exited: Promise<unknown[]>): Promise<never> {
  const [code] = await exited;
  throw new Error(`${program} ended with ${String(code)} before it was ready`);
}
