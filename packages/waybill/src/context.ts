import type { Given } from "./command-line/given.ts";
import type { Settings } from "./settings/settings.ts";
import type { Terminal } from "./terminal/terminal.ts";

/** What a command gets to work with. */
export interface Context {
  readonly given: Given;
  readonly settings: Settings;
  readonly terminal: Terminal;
  /** Aborted by Ctrl-C and by a signal to terminate. */
  readonly signal: AbortSignal;
}
