import type { Kind } from "../hub/known.ts";
import type { ArgumentSpec, Command, OptionSpec } from "../command-line/command.ts";
import { optionsOf } from "../command-line/parse.ts";

/** The words that may follow a part of a command line, from the table of commands. */
export interface Place {
  /** `""`, `ledger` or `ledger verify` */
  readonly path: string;
  /** The next words, each with its description. */
  readonly next: readonly (readonly [string, string])[];
  readonly options: readonly OptionSpec[];
  readonly argument: ArgumentSpec | undefined;
}

export function placesOf(commands: readonly Command[]): readonly Place[] {
  const inside = (group: string) => commands.filter(({ name }) => name.startsWith(`${group} `));
  const alone = new Set(commands.filter((each) => !isOfGroup(each)).map(({ name }) => name));
  const groups = new Set(commands.filter(isOfGroup).map(({ name }) => name.split(" ")[0]!));
  const first = [
    ...commands
      .filter(({ name }) => alone.has(name))
      .map(({ name, says }) => [name, says] as const),
    ...[...groups]
      .filter((group) => !alone.has(group))
      .map((group) => [group, inside(group).map(lastWord).join(", ")] as const),
  ].toSorted(([a], [b]) => (a < b ? -1 : 1));
  // A command may be a group as well: `agents`, and `agents pin`.
  const wordsAfter = (path: string) =>
    inside(path).map((each) => [lastWord(each), each.says] as const);
  return [
    { path: "", next: first, options: [], argument: undefined },
    ...[...groups]
      .filter((group) => !alone.has(group))
      .map((group): Place => ({
        path: group,
        next: wordsAfter(group),
        options: [],
        argument: undefined,
      })),
    ...commands.map((command): Place => ({
      path: command.name,
      next: wordsAfter(command.name),
      options: optionsOf(command),
      argument: command.arguments?.[0],
    })),
  ];
}

/** The fixed words for an argument, from the table. */
export function fixedWords(argument: ArgumentSpec | undefined): readonly string[] {
  const completes = argument?.completes;
  return typeof completes === "object" ? completes : [];
}

/** The kind of names to ask the hub for when completing an argument. */
export function liveKind(argument: ArgumentSpec | undefined): Kind | undefined {
  const completes = argument?.completes;
  return typeof completes === "object" || completes === "file" ? undefined : completes;
}

/** Whether the value of an option is an agent that the hub knows. */
export function takesAgent({ value }: OptionSpec): boolean {
  return value === "<agent>";
}

/** Whether the shell completes the value of an option with files. */
export function takesFile({ value }: OptionSpec): boolean {
  return value === "<file>" || value === "<folder>";
}

function isOfGroup({ name }: Command): boolean {
  return name.includes(" ");
}

function lastWord({ name }: Command): string {
  return name.split(" ").at(-1)!;
}
