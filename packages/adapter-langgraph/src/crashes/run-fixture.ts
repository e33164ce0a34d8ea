/// <reference types="node" />
import { fork } from "node:child_process";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { PHASES } from "./graph-fixture.ts";
import type { Phase } from "./graph-fixture.ts";

const LIFE = fileURLToPath(new URL("life-fixture.ts", import.meta.url));

/** How long after the start of a phase a process may still be killed: longer than most phases last. */
const AFTERWARDS_MS = 60;

export interface Kill {
  readonly topic: string;
  readonly phase: Phase;
  readonly afterMs: number;
}

export function killsFrom(seed: number, count: number): Kill[] {
  const random = randomFrom(seed);
  return Array.from({ length: count }, (_, index) => ({
    topic: `job ${index}`,
    phase: PHASES[Math.floor(random() * PHASES.length)]!,
    // Half of them at the very start of the phase, where most is under way.
    afterMs: random() < 0.5 ? random() * 5 : random() * AFTERWARDS_MS,
  }));
}

/**
 * One more job and one kill in each process; the last process runs to its end. Returns the kills that
 * came in time.
 */
export async function runKilled(folder: string, kills: readonly Kill[]): Promise<number> {
  let killed = 0;
  const topics: string[] = [];
  for (const kill of kills) {
    topics.push(kill.topic);
    killed += (await live(folder, topics, kill)) === "SIGKILL" ? 1 : 0;
  }
  const ending = await live(folder, topics);
  if (ending !== 0) throw new Error(`The last life ended with ${ending}.`);
  return killed;
}

async function live(
  folder: string,
  topics: readonly string[],
  kill?: Kill,
): Promise<NodeJS.Signals | number | null> {
  const child = fork(LIFE, [folder, ...topics], {
    execArgv: [],
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  let complaint = "";
  child.stderr!.setEncoding("utf8").on("data", (text: string) => (complaint += text));
  const ended = new Promise<NodeJS.Signals | number | null>((resolve) =>
    child.once("close", (code, signal) => resolve(signal ?? code)),
  );
  child.on("message", ([phase, topic]: [Phase, string]) => {
    if (kill === undefined || phase !== kill.phase || topic !== kill.topic) return;
    void setTimeout(kill.afterMs).then(() => child.kill("SIGKILL"));
  });
  const ending = await ended;
  if (ending !== 0 && ending !== "SIGKILL")
    throw new Error(`A life ended with ${ending}: ${complaint}`);
  return ending;
}

/** Repeatable random numbers from 0 to below 1 (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
