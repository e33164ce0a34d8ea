import { spawnSync } from "node:child_process";
import { root } from "./workspace.mjs";

/** Runs a command to its end and returns what it printed; throws that if it fails. */
export function run(command, args = [], options = {}) {
  const result = spawnSync(command, args, {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 2 ** 28,
    ...options,
  });
  if (result.error) throw new Error(`${command} did not start: ${result.error.message}`);
  if (result.status === 0) return result.stdout;
  const how = result.signal
    ? `was ended by ${result.signal}`
    : `ended with exit code ${result.status}`;
  throw new Error(`${result.stdout}${result.stderr}\n${[command, ...args].join(" ")} ${how}`);
}
