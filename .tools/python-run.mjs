import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { root } from "./workspace.mjs";

export const folder = join(root, "packages", "python");

/** Runs a command in packages/python, shows its output, and returns whether it succeeded. */
export function run(command, args, name, more = {}) {
  const home = join(folder, ".venvs", `${name}.home`);
  mkdirSync(home, { recursive: true });
  const { status, error } = spawnSync(command, args, {
    cwd: folder,
    stdio: "inherit",
    env: { ...process.env, ...silence(args.includes("pytest") ? home : undefined), ...more },
  });
  if (error !== undefined) console.error(`${command} did not start: ${error.message}`);
  return status === 0;
}

/** Turns off the telemetry of the frameworks, and keeps their home folder here. */
export function silence(home) {
  return {
    PYTHONDONTWRITEBYTECODE: "1",
    DO_NOT_TRACK: "1",
    OTEL_SDK_DISABLED: "true",
    AUTOGEN_DISABLE_RUNTIME_TRACING: "true",
    CREWAI_DISABLE_TELEMETRY: "true",
    CREWAI_DISABLE_TRACKING: "true",
    CREWAI_TRACING_ENABLED: "false",
    CREWAI_DISABLE_VERSION_CHECK: "true",
    CREWAI_TESTING: "true",
    ...(home === undefined ? {} : { HOME: home }),
  };
}
