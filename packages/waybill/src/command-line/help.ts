import type { Style } from "../terminal/style.ts";
import { widthOf } from "../terminal/text.ts";
import { beside, commandWrapped } from "../terminal/wrap.ts";
import type { Command, OptionSpec } from "./command.ts";
import { EXIT_CODES } from "./exit-code.ts";
import { commandOf, GLOBAL_OPTIONS, optionsOf, usageOf } from "./parse.ts";
import { flagOf } from "../settings/table.ts";
import { unknownCommand } from "./parse.ts";

/** The help page for these words: of a command, of a group of commands, or of everything. */
export function helpFor(
  words: readonly string[],
  commands: readonly Command[],
  style: Style,
  width: number = Infinity,
): string {
  const command = commandOf(words, commands);
  if (command !== undefined) return commandHelp(command, style, width);
  if (words.length === 0) return overview(commands, style, width);
  const group = commands.filter(({ name }) => name.startsWith(`${words[0]} `));
  if (group.length === 0) throw unknownCommand(words.join(" "), commands);
  return page([
    `${style.strong(`waybill ${words[0]}`)} <command>`,
    section(
      "Commands",
      rows(
        group.map(({ name, says }) => [name, says]),
        style,
        width,
      ),
      style,
    ),
    style.faint(`One command: waybill ${words[0]} <command> --help`),
  ]);
}

/** The groups of commands on the first page. Commands without a group come last. */
const GROUPS: readonly (readonly [string, RegExp])[] = [
  ["Start a hub", /^(dev|hub|doctor)$/],
  ["Hand work off", /^(agents|find|send)$/],
  ["See what happens", /^(watch|trace)$/],
  ["Dead letters", /^dead-letters /],
  ["Record", /^(ledger |backup|restore)/],
  ["Identity and access", /^(invite|invitations .+|agents .+|groups .+|keys .+|manifest .+)$/],
  ["This command", /./],
];

function overview(commands: readonly Command[], style: Style, width: number): string {
  const left = new Set(commands);
  const names = Math.max(...commands.map(({ name }) => name.length));
  const groups = GROUPS.map(([title, pattern]) => {
    const members = [...left].filter(({ name }) => pattern.test(name));
    for (const each of members) left.delete(each);
    return section(
      title,
      rows(
        members.map(({ name, says }) => [name, says]),
        style,
        width,
        names,
      ),
      style,
    );
  });
  return page([
    `${style.strong("waybill")} <command> [options]`,
    "Hand work from one agent to another: signed, confirmed, bound to a deadline, never silently lost.",
    ...groups,
    section("Every command", rows(GLOBAL_OPTIONS.map(optionRow), style, width, names), style),
    section(
      "Get started",
      `  waybill dev              ${style.faint("in one terminal")}\n  waybill doctor           ${style.faint("in another, to check the setup")}`,
      style,
    ),
    style.faint("One command, with an example: waybill <command> --help"),
  ]);
}

function commandHelp(command: Command, style: Style, width: number): string {
  const { says, examples, settings = [] } = command;
  const options = optionsOf(command);
  const own = command.options ?? [];
  const set = options.filter(({ name }) => settings.some((each) => flagOf(each) === name));
  const all = [...options.map(optionRow), ...(command.arguments ?? []).map(argumentRow)];
  const longest = Math.max(...all.map(([name]) => widthOf(name)));
  const list = (given: readonly (readonly [string, string])[]) =>
    rows(given, style, width, longest);
  return page([
    `${style.strong(usageOf(command).replace(/ \[options\]$/, ""))} [options]`,
    says,
    section("Arguments", list((command.arguments ?? []).map(argumentRow)), style),
    section("Options", list(own.map(optionRow)), style),
    section(
      `Settings ${style.faint("or WAYBILL_… in the environment, or in waybill.json")}`,
      list(set.map(optionRow)),
      style,
    ),
    section("Every command", list(options.filter(isGlobal).map(optionRow)), style),
    section(
      "Examples",
      examples
        .map(
          ({ line, says: why }) => `${commandWrapped(line, width, 2)}\n      ${style.faint(why)}`,
        )
        .join("\n"),
      style,
    ),
  ]);
}

function isGlobal(option: OptionSpec): boolean {
  return GLOBAL_OPTIONS.includes(option);
}

/** The rows of the table of exit codes. */
export function exitCodeRows(): readonly (readonly [string, string])[] {
  return Object.entries(EXIT_CODES).map(([code, { means, statuses }]) => [
    code,
    statuses.length === 0 ? means : `${means} (${statuses.join(", ")})`,
  ]);
}

function optionRow({ name, value, isRepeated, says }: OptionSpec): readonly [string, string] {
  const repeats = isRepeated === true ? "…" : "";
  return [`--${name}${value === undefined ? "" : ` ${value}`}${repeats}`, says];
}

function argumentRow({
  name,
  says,
}: NonNullable<Command["arguments"]>[number]): readonly [string, string] {
  return [`<${name}>`, says];
}

function rows(
  given: readonly (readonly [string, string])[],
  style: Style,
  width: number,
  atLeast = 0,
): string {
  const names = Math.max(atLeast, ...given.map(([name]) => widthOf(name)));
  return given
    .map(([name, says]) => beside(`  ${style.name(name)}`, names + 2, says, width))
    .join("\n");
}

function section(title: string, text: string, style: Style): string {
  return text === "" ? "" : `${style.strong(title)}\n${text}`;
}

function page(parts: readonly string[]): string {
  return `${parts.filter((part) => part !== "").join("\n\n")}\n`;
}
