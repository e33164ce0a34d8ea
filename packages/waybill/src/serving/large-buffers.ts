/// <reference types="node" />

const THRESHOLD = "MALLOC_MMAP_THRESHOLD_";
const THRESHOLD_BYTES = 128 * 1024;
const COMMANDS: ReadonlySet<string | undefined> = new Set(["hub", "dev"]);

/**
 * Starts a serving command again with a fixed threshold above which glibc maps memory, so that large
 * buffers go back to the system once they are free. By default the threshold grows with the buffers
 * that are freed, and a flooded hub keeps some 100 MB in fragments. The process and its id stay the
 * same. Elsewhere, and where a setting is given already, nothing happens.
 */
export function restartWithFreedBuffers(args: readonly string[]): void {
  const { execve, platform, env, execPath, execArgv, argv } = process;
  const command = args.find((each) => !each.startsWith("-"));
  if (platform !== "linux" || execve === undefined || !COMMANDS.has(command)) return;
  // The channel to a parent process would not survive it.
  if (THRESHOLD in env || process.channel !== undefined) return;
  try {
    execve.call(process, execPath, [execPath, ...execArgv, ...argv.slice(1)], {
      ...env,
      [THRESHOLD]: String(THRESHOLD_BYTES),
    });
  } catch {
    // A system that forbids it only takes more memory.
  }
}
