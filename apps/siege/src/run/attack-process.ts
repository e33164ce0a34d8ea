/// <reference types="node" />
import { fork } from "node:child_process";
import { once } from "node:events";
import { setPriority } from "node:os";
import { fileURLToPath } from "node:url";
import type { AttackOrder, AttackReport, FromAttack } from "../attack.ts";

const PROGRAM = fileURLToPath(new URL("../attack.ts", import.meta.url));
/** A real attacker has its own machine, and takes no processor time from the hub and the honest pair. */
const NICE = 5;
const BEGIN_WITHIN_MS = 20_000;
/** How long after its time an attack may report its outcomes. */
const GRACE_MS = 10_000;

/** Runs one attack to its end; calls `begun` when its time starts. */
export async function attack(
  order: AttackOrder,
  begun: () => void,
  program: string = PROGRAM,
): Promise<AttackReport> {
  const child = fork(program, [JSON.stringify(order)], {
    execArgv: ["--max-old-space-size=2048"],
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const exited = once(child, "exit");
  setPriority(child.pid!, NICE);
  let report: AttackReport = { tally: {}, reasons: {}, fault: "It ended without a report." };
  let late = setTimeout(() => child.kill("SIGKILL"), BEGIN_WITHIN_MS);
  child.on("message", (message: FromAttack) => {
    if (message.type === "ended") {
      report = message.report;
      return;
    }
    clearTimeout(late);
    late = setTimeout(() => child.kill("SIGKILL"), order.seconds * 1000 + GRACE_MS);
    begun();
  });
  await exited;
  clearTimeout(late);
  return report;
}
