/// <reference types="node" />
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { STATUS } from "@waybill/protocol";
import type { StatusCode } from "@waybill/protocol";
import { describe, expect, test } from "vitest";
import { styleFor } from "../terminal/style.ts";
import { COMMANDS } from "./commands.ts";
import { EXIT_CODES, exitCodeOf } from "./exit-code.ts";
import { exitCodeRows, helpFor } from "./help.ts";
import { parseCommandLine, optionsOf } from "./parse.ts";

const style = styleFor(false);
const parse = (...words: string[]) => parseCommandLine(words, COMMANDS);

describe.each(COMMANDS.map((command) => [command.name, command] as const))(
  "%s",
  (name, command) => {
    test("has an example that a shell and the parser accept", () => {
      for (const { line } of command.examples) {
        // The words as a shell splits them, up to a pipe and without redirections.
        const own = line
          .split(" | ")[0]!
          .replace(/ > \S+$/, "")
          .replace(/^source <\((.*)\)$/, "$1");
        const printed = execFileSync("bash", ["-c", `printf '%s\\0' ${own}`], { encoding: "utf8" });
        const [program, ...words] = printed.split("\0").slice(0, -1);
        expect(program).toBe("waybill");
        expect(parse(...words)).toMatchObject({ type: "run", command: { name } });
      }
    });

    test("has help that lists all its arguments and options, in lines that fit a terminal", () => {
      const help = helpFor(name.split(" "), COMMANDS, style);
      for (const option of optionsOf(command)) expect(help).toContain(`--${option.name}`);
      for (const argument of command.arguments ?? []) expect(help).toContain(`<${argument.name}>`);
      expect(help).toContain(command.examples[0].line);
      for (const line of help.split("\n")) expect(line.length).toBeLessThan(112);
    });

    test("has a module that runs it", async () => {
      expect(await command.load()).toBeTypeOf("function");
    });
  },
);

describe("an invalid command line is answered with what to type", () => {
  test.each([
    [["sned"], 'There is no command "sned". Did you mean send? All commands: waybill --help'],
    [["ledger", "verfy"], 'There is no command "ledger verfy". Did you mean ledger verify?'],
    [
      ["send", "x", "--timout", "1s"],
      "waybill send has no option --timout. Did you mean --timeout?",
    ],
    [["send", "x", "-t"], "waybill send has no option -t."],
    [["send"], "waybill send needs <capability>, the capability to use. For example: waybill send"],
    [
      ["send", "a", "b", "c d"],
      'Unexpected argument "c d". The command is: waybill send <capability> [input] [options]. Put text with spaces in quotes.',
    ],
    [["send", "a", "--timeout"], "--timeout needs a value: --timeout <time>."],
    [["send", "a", "--timeout", "--json"], "--timeout needs a value"],
    [["agents", "--json=yes"], '--json takes no value, but "yes" was given.'],
    [["help", "sned"], 'There is no command "sned".'],
  ])("%j", (words, message) => {
    const run = () => {
      const parsed = parse(...words);
      if (parsed.type === "help") helpFor(parsed.words, COMMANDS, style);
    };
    expect(run).toThrow(
      expect.objectContaining({ status: 400, message: expect.stringContaining(message) }) as Error,
    );
  });

  test("an option's value may begin with dashes after an equals sign", () => {
    expect(parse("send", "a", "--answer=--yes")).toMatchObject({
      given: { options: { answer: ["--yes"] } },
    });
  });
});

describe("a base64url word that begins with a dash is not an option", () => {
  const thumbprint = "-u4m6Vb0sKq3oXn1Tt9zYwEr5Hc2JdLgPafNQi8Mx_0";
  const dashes = "--4m6Vb0sKq3oXn1Tt9zYwEr5Hc2JdLgPafNQi8Mx_0";
  const token = `${dashes}.${thumbprint}`;
  test.each([
    [["agents", "--token", token], { options: { token } }],
    [["agents", "pin", "anna", thumbprint], { arguments: { key: thumbprint } }],
    [["agents", "pin", "anna", dashes, "--json"], { arguments: { key: dashes } }],
    [["--json", "agents", "allow", thumbprint], { arguments: { who: thumbprint } }],
    [["agents", thumbprint], { arguments: { agent: thumbprint } }],
    [
      ["send", "a", "--answer", thumbprint, "--answer", dashes],
      { options: { answer: [thumbprint, dashes] } },
    ],
    [["find", "a", "--words", dashes], { options: { words: dashes } }],
  ])("%j", (words, given) => {
    expect(parse(...words)).toMatchObject({ given });
  });

  test("a misspelt long option is still an option", () => {
    expect(() => parse("ledger", "export", "--from-a-hub-far-far-away")).toThrow("has no option");
  });
});

describe("options may stand before the command", () => {
  const hub = { options: { hub: "http://127.0.0.1:1" } };
  test.each([
    [["--hub", "http://127.0.0.1:1", "find", "x"], { command: { name: "find" }, given: hub }],
    [["--hub=http://127.0.0.1:1", "find", "x"], { command: { name: "find" }, given: hub }],
    [["--json", "trace", "x"], { command: { name: "trace" }, given: { options: { json: true } } }],
    [["ledger", "--quiet", "verify"], { command: { name: "ledger verify" } }],
    [["--data", "find", "find", "x"], { given: { options: { data: "find" } } }],
    [["--help", "find"], { type: "help", words: ["find"] }],
    [["--json", "ledger", "verify", "-h"], { type: "help", words: ["ledger", "verify"] }],
    [["help", "ledger", "verify"], { type: "help", words: ["ledger", "verify"] }],
  ])("%j", (words, expected) => {
    expect(parse(...words)).toMatchObject(expected);
  });

  test("an unknown option is named", () => {
    expect(() => parse("--jsno", "find", "x")).toThrow("Did you mean --json?");
  });
});

test.each(COMMANDS.map(({ name }) => [name]))("waybill %s --version prints the version", (name) => {
  expect(parse(...name.split(" "), "--version")).toEqual({ type: "version" });
  expect(parse("--version", ...name.split(" "))).toEqual({ type: "version" });
});

test("--version with a value is a capability's version", () => {
  expect(parse("find", "x", "--version", "1.2")).toMatchObject({
    given: { options: { version: "1.2" } },
  });
});

test("every final status has one exit code, as in the README's table", () => {
  for (const code of Object.keys(STATUS).map(Number) as StatusCode[]) {
    const rows = Object.values(EXIT_CODES).filter(({ statuses }) => statuses.includes(code));
    expect(rows).toHaveLength(1);
  }
  expect(exitCodeOf(504)).toBe(7);
  const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
  for (const [code, means] of exitCodeRows()) {
    expect(readme.replaceAll(/ +/g, " ")).toContain(`| ${code} | ${means} |`);
  }
});

test("an argument of a command that is also a group is not read as a subcommand", () => {
  const [agents] = COMMANDS.filter(({ name }) => name === "agents");
  const commands = [
    ...COMMANDS.filter(({ name }) => !name.startsWith("agents ")),
    { ...agents!, name: "agents pin" },
  ];
  expect(parseCommandLine(["--json", "agents", "anna"], commands)).toMatchObject({
    command: { name: "agents" },
    given: { arguments: { agent: "anna" }, options: { json: true } },
  });
  expect(parseCommandLine(["agents", "pin", "anna"], commands)).toMatchObject({
    command: { name: "agents pin" },
  });
});
