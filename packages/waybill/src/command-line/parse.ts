/// <reference types="node" />
import { parseArgs } from "node:util";
import { WaybillError } from "@waybill/protocol";
import { flagOf, SETTINGS } from "../settings/table.ts";
import type { Command, OptionSpec } from "./command.ts";
import type { Given } from "./given.ts";
import { didYouMean } from "./nearest.ts";

/** Options that every command has. */
export const GLOBAL_OPTIONS: readonly OptionSpec[] = [
  { name: "json", says: "print JSON; streams print one line for each item" },
  { name: "quiet", says: "print errors only, no progress" },
  { name: "config", value: "<file>", says: "read settings from this file (waybill.json)" },
  { name: "help", says: "show this help" },
  { name: "version", says: "show the version" },
];

/** All options of a command: its own, its settings, and the global ones. */
export function optionsOf(command: Command): readonly OptionSpec[] {
  const settings = (command.settings ?? []).map((name): OptionSpec => {
    const { kind, value, says } = SETTINGS[name];
    return kind === "switch" ? { name: flagOf(name), says } : { name: flagOf(name), value, says };
  });
  const own = [...(command.options ?? []), ...settings];
  const names = new Set(own.map(({ name }) => name));
  return [...own, ...GLOBAL_OPTIONS.filter(({ name }) => !names.has(name))];
}

type OptionValue = Given["options"][string];

export type Parsed =
  | { readonly type: "run"; readonly command: Command; readonly given: Given }
  | { readonly type: "help"; readonly words: readonly string[]; readonly isAsked: boolean }
  | { readonly type: "version" };

/** Parses a command line. Throws a 400 with the correct usage if it is invalid. */
export function parseCommandLine(words: readonly string[], commands: readonly Command[]): Parsed {
  if (words.length === 0) return { type: "help", words: [], isAsked: false };
  const { names, before, after } = partsOf(words, commands);
  const [first, second] = names;
  if (before.some(isVersion)) return { type: "version" };
  const isHelp = before.some(isHelpFlag) || after.some(isHelpFlag);
  if (first === "help") return { type: "help", words: after.filter(isName), isAsked: true };
  if (first === undefined) return { type: "help", words: [], isAsked: isHelp };
  const command = commandOf(names, commands);
  if (command === undefined) {
    const isGroup = isGroupOf(commands, first);
    if (isGroup && second === undefined) return { type: "help", words: [first], isAsked: isHelp };
    throw unknownCommand(isGroup ? `${first} ${second!}` : first, commands);
  }
  if (isHelp) return { type: "help", words: command.name.split(" "), isAsked: true };
  if (asksForVersion(command, after)) return { type: "version" };
  // `agents` is a command, and `agents pin` is one too: any other word after `agents` is an argument.
  const rest = names.slice(command.name.split(" ").length);
  return { type: "run", command, given: givenTo(command, [...before, ...rest, ...after]) };
}

interface Parts {
  /** The words of the command. */
  readonly names: readonly string[];
  /** The options before the command and between its words, each with its value. */
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/** Options may stand anywhere: `waybill --json ledger verify`. */
function partsOf(words: readonly string[], commands: readonly Command[]): Parts {
  const names: string[] = [];
  const before: string[] = [];
  let index = 0;
  for (; index < words.length; index++) {
    const word = words[index]!;
    if (isOption(word)) {
      before.push(word);
      if (takesNext(word, commands) && index + 1 < words.length) before.push(words[++index]!);
      continue;
    }
    names.push(word);
    const isWhole = names.length === 2 || !isGroupOf(commands, word);
    if (isWhole) return { names, before, after: words.slice(index + 1) };
  }
  return { names, before, after: [] };
}

/** Whether the value of an option before the command is the next word. */
function takesNext(word: string, commands: readonly Command[]): boolean {
  if (isHelpFlag(word) || isVersion(word)) return false;
  const [name = "", ...value] = word.replace(/^--/, "").split("=");
  const specs = commands.flatMap(optionsOf);
  const spec = word.startsWith("--") ? specs.find((each) => each.name === name) : undefined;
  if (spec !== undefined) return spec.value !== undefined && value.length === 0;
  const near = nearOption(name, specs);
  throw wrong(`There is no option ${word.split("=")[0]!}.${near} All commands: waybill --help`);
}

function nearOption(name: string, specs: readonly OptionSpec[]): string {
  const names = specs.map((each) => each.name);
  return didYouMean(name, names).replace("mean ", "mean --");
}

/**
 * Some commands have a `--version <version>` of their own; without a value it still asks for the
 * version.
 */
function asksForVersion(command: Command, words: readonly string[]): boolean {
  const at = words.findIndex(isVersion);
  if (at === -1 || words.indexOf("--") !== -1) return false;
  const isOwn = optionsOf(command).some(({ name }) => name === "version");
  return !isOwn || words[at] === "-V" || at === words.length - 1;
}

function isGroupOf(commands: readonly Command[], word: string): boolean {
  return commands.some(({ name }) => name.startsWith(`${word} `));
}

function isHelpFlag(word: string): boolean {
  return word === "--help" || word === "-h";
}

function isVersion(word: string): boolean {
  return word === "--version" || word === "-V";
}

function isName(word: string): boolean {
  return !isOption(word);
}

/**
 * Key thumbprints, tokens and invitation ids are base64url, and one in 64 begins with a dash. No
 * option contains capitals, digits or underscores, and short options are one letter long.
 */
function isOption(word: string): boolean {
  if (!word.startsWith("-") || word === "-") return false;
  return !/^-[\w.-]{19,}$/.test(word) || /^--[a-z-]+$/.test(word);
}

/**
 * A prefix that keeps `parseArgs` from reading a word as an option. Process arguments never contain
 * NUL.
 */
const PLAIN = "\0";

function plain(word: string): string {
  return word.replace(PLAIN, "");
}

function plainValue(value: OptionValue): OptionValue {
  if (value === true) return value;
  return typeof value === "string" ? plain(value) : value.map(plain);
}

export function commandOf(
  words: readonly string[],
  commands: readonly Command[],
): Command | undefined {
  const named = (count: number) =>
    commands.find(({ name }) => name === words.slice(0, count).join(" "));
  return named(2) ?? named(1);
}

export function unknownCommand(typed: string, commands: readonly Command[]): WaybillError {
  const names = commands.map(({ name }) => name);
  const groups = names.map((name) => name.split(" ")[0]!);
  const near = didYouMean(typed, [...names, ...groups]);
  return new WaybillError(
    400,
    `There is no command ${JSON.stringify(typed)}.${near} All commands: waybill --help`,
  );
}

function givenTo(command: Command, words: readonly string[]): Given {
  const known = optionsOf(command);
  const options = Object.fromEntries(
    known.map(({ name, value, isRepeated = false }) => [
      name,
      value === undefined
        ? ({ type: "boolean" } as const)
        : ({ type: "string", multiple: isRepeated } as const),
    ]),
  );
  // Not strict, because its errors don't say what to do.
  const { tokens, values } = parseArgs({
    args: words.map((word) => (word.startsWith("-") && !isOption(word) ? PLAIN + word : word)),
    options,
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const positionals: string[] = [];
  for (const token of tokens) {
    if (token.kind === "positional") positionals.push(plain(token.value));
    else if (token.kind === "option") checkOption(command, known, token);
  }
  const taken = command.arguments ?? [];
  const isRepeated = taken.at(-1)?.isRepeated === true;
  return {
    arguments: argumentsOf(command, positionals),
    ...(isRepeated && { words: positionals.slice(taken.length - 1) }),
    options: Object.fromEntries(
      Object.entries(values as Given["options"]).map(([name, value]) => [name, plainValue(value)]),
    ),
  };
}

function checkOption(
  command: Command,
  specs: readonly OptionSpec[],
  {
    name,
    rawName,
    value,
    inlineValue,
  }: {
    name: string;
    rawName: string;
    value: string | undefined;
    inlineValue: boolean | undefined;
  },
): void {
  const spec = specs.find((each) => each.name === name);
  const see = `See: waybill ${command.name} --help`;
  if (spec === undefined || !rawName.startsWith("--")) {
    const near = nearOption(name, specs);
    throw wrong(`waybill ${command.name} has no option ${rawName}.${near} ${see}`);
  }
  if (spec.value === undefined && value !== undefined) {
    throw wrong(`--${name} takes no value, but ${JSON.stringify(value)} was given. ${see}`);
  }
  const isSwallowed = inlineValue !== true && value?.startsWith("--") === true;
  if (spec.value !== undefined && (value === undefined || isSwallowed)) {
    throw wrong(`--${name} needs a value: --${name} ${spec.value}. ${see}`);
  }
}

function argumentsOf(command: Command, words: readonly string[]): Record<string, string> {
  const specs = command.arguments ?? [];
  const [tooMany] = words.slice(specs.length);
  if (tooMany !== undefined && specs.at(-1)?.isRepeated !== true) {
    throw wrong(
      `Unexpected argument ${JSON.stringify(tooMany)}. The command is: ${usageOf(command)}. Put text with spaces in quotes.`,
    );
  }
  const missing = specs.slice(words.length).find(({ isOptional }) => isOptional !== true);
  if (missing !== undefined) {
    throw wrong(
      `waybill ${command.name} needs <${missing.name}>, ${missing.says}. For example: ${command.examples[0].line}`,
    );
  }
  return Object.fromEntries(
    words.slice(0, specs.length).map((word, index) => [specs[index]!.name, word]),
  );
}

/** `waybill find <capability> [options]` */
export function usageOf(command: Command): string {
  const parts = (command.arguments ?? []).map(({ name, isOptional, isRepeated }) => {
    const text = isRepeated === true ? `${name}…` : name;
    return isOptional === true ? `[${text}]` : `<${text}>`;
  });
  return ["waybill", command.name, ...parts, "[options]"].join(" ");
}

function wrong(message: string): WaybillError {
  return new WaybillError(400, message);
}
