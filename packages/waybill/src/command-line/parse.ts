/// <reference types="node" />
import { parseArgs } from "node:util";
import { WaybillError } from "@waybill/protocol";
import { flagOf, SETTINGS } from "../settings/table.ts";
import type { Command, OptionSpec } from "./command.ts";
import type { Given } from "./given.ts";
import { didYouMean } from "./nearest.ts";

/** Options that every command has. */
export const GLOBAL_OPTIONS: readonly OptionSpec[] = [
  { name: "json", says: "JSON on stdout, a line for each item where they come one by one" },
  { name: "quiet", says: "no progress on stderr, only errors" },
  { name: "config", value: "<file>", says: "read settings from here (waybill.json)" },
  { name: "help", says: "show this" },
];

/** Every option of a command: its own, its settings, and those that all have. */
export function optionsOf(command: Command): readonly OptionSpec[] {
  const settings = (command.settings ?? []).map((name): OptionSpec => {
    const { kind, value, says } = SETTINGS[name];
    return kind === "switch" ? { name: flagOf(name), says } : { name: flagOf(name), value, says };
  });
  return [...(command.options ?? []), ...settings, ...GLOBAL_OPTIONS];
}

export type Parsed =
  | { readonly type: "run"; readonly command: Command; readonly given: Given }
  | { readonly type: "help"; readonly words: readonly string[]; readonly isAsked: boolean }
  | { readonly type: "version" };

/** What a command line means; a 400 that says what to type instead where it means nothing. */
export function parseCommandLine(words: readonly string[], commands: readonly Command[]): Parsed {
  const [first, ...others] = words;
  if (first === undefined) return { type: "help", words: [], isAsked: false };
  if (first === "help") return { type: "help", words: others, isAsked: true };
  if (first === "--help" || first === "-h") return { type: "help", words: [], isAsked: true };
  if (first === "--version" || first === "-V") return { type: "version" };
  const command = commandOf(words, commands);
  if (command === undefined) {
    const isGroup = commands.some(({ name }) => name.startsWith(`${first} `));
    const second = others[0];
    if (isGroup && (second === undefined || second.startsWith("-"))) {
      return { type: "help", words: [first], isAsked: second === "--help" || second === "-h" };
    }
    throw unknownCommand(isGroup ? `${first} ${second!}` : first, commands);
  }
  const rest = words.slice(command.name.split(" ").length);
  if (rest.some((word) => word === "--help" || word === "-h")) {
    return { type: "help", words: command.name.split(" "), isAsked: true };
  }
  return { type: "run", command, given: givenTo(command, rest) };
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
  const specs = optionsOf(command);
  const options = Object.fromEntries(
    specs.map(({ name, value, isRepeated = false }) => [
      name,
      value === undefined
        ? ({ type: "boolean" } as const)
        : ({ type: "string", multiple: isRepeated } as const),
    ]),
  );
  // Not strict: what it would throw does not say what to do.
  const { tokens, values } = parseArgs({
    args: [...words],
    options,
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const positionals: string[] = [];
  for (const token of tokens) {
    if (token.kind === "positional") positionals.push(token.value);
    else if (token.kind === "option") checkOption(command, specs, token);
  }
  return {
    arguments: argumentsOf(command, positionals),
    options: values as Given["options"],
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
    const near = didYouMean(
      name,
      specs.map((each) => each.name),
    ).replace("mean ", "mean --");
    throw wrong(`waybill ${command.name} has no option ${rawName}.${near} ${see}`);
  }
  if (spec.value === undefined && value !== undefined) {
    throw wrong(`--${name} takes no value, and it was given ${JSON.stringify(value)}. ${see}`);
  }
  const isSwallowed = inlineValue !== true && value?.startsWith("--") === true;
  if (spec.value !== undefined && (value === undefined || isSwallowed)) {
    throw wrong(`--${name} needs a value: --${name} ${spec.value}. ${see}`);
  }
}

function argumentsOf(command: Command, words: readonly string[]): Record<string, string> {
  const specs = command.arguments ?? [];
  const [tooMany] = words.slice(specs.length);
  if (tooMany !== undefined) {
    throw wrong(
      `${JSON.stringify(tooMany)} is more than waybill ${command.name} takes: ${usageOf(command)}. Text with spaces needs quotes.`,
    );
  }
  const missing = specs.slice(words.length).find(({ isOptional }) => isOptional !== true);
  if (missing !== undefined) {
    throw wrong(
      `waybill ${command.name} needs <${missing.name}>, ${missing.says}. For example: ${command.examples[0].line}`,
    );
  }
  return Object.fromEntries(words.map((word, index) => [specs[index]!.name, word]));
}

/** `waybill find <capability> [options]` */
export function usageOf(command: Command): string {
  const parts = (command.arguments ?? []).map(({ name, isOptional }) =>
    isOptional === true ? `[${name}]` : `<${name}>`,
  );
  return ["waybill", command.name, ...parts, "[options]"].join(" ");
}

function wrong(message: string): WaybillError {
  return new WaybillError(400, message);
}
