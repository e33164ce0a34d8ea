import type { SettingName } from "../settings/table.ts";
import type { Kind } from "../hub/known.ts";
import type { Context } from "../context.ts";

export interface OptionSpec {
  readonly name: string;
  /** The placeholder of its value in the help; an option without one is a switch. */
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
  /** The shell completes files, a list completes from its words, and all else is asked of the hub. */
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
  /** Loaded only when the command runs, so that help and completions are fast. */
  readonly load: () => Promise<Run>;
}

/** Returns the exit code if it is not 0. */
export type Run = (context: Context) => Promise<number | void>;
