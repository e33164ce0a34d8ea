import type { SettingName } from "../settings/table.ts";
import type { Kind } from "../hub/known.ts";
import type { Context } from "../context.ts";

export interface OptionSpec {
  readonly name: string;
  /** What stands for its value in the help; an option without one is a switch. */
  readonly value?: string;
  readonly isRepeated?: boolean;
  readonly says: string;
}

export interface ArgumentSpec {
  readonly name: string;
  readonly says: string;
  readonly isOptional?: boolean;
  /** The last argument may take any number of words. */
  readonly isRepeated?: boolean;
  /** Files are completed by the shell, words from this list, and the rest by asking the hub. */
  readonly completes?: "file" | Kind | readonly string[];
}

export interface Example {
  readonly line: string;
  readonly says: string;
}

/** One row of the table that help, completions and parsing read. */
export interface Command {
  /** As it is typed: `ledger verify` is one command of two words. */
  readonly name: string;
  readonly says: string;
  readonly arguments?: readonly ArgumentSpec[];
  readonly options?: readonly OptionSpec[];
  /** The settings that it reads; each is a flag too. */
  readonly settings?: readonly SettingName[];
  readonly examples: readonly [Example, ...Example[]];
  /** Loaded only when it runs, so that help and completions are there at once. */
  readonly load: () => Promise<Run>;
}

/** Gives the exit code where it is not 0. */
export type Run = (context: Context) => Promise<number | void>;
