/// <reference types="node" />
import { inspect } from "node:util";
import { isStatusCode, WaybillError } from "@waybill/protocol";
import { LIVE_COMMAND } from "./completion/shells.ts";
import { COMMANDS } from "./command-line/commands.ts";
import { exitCodeOf } from "./command-line/exit-code.ts";
import { helpFor } from "./command-line/help.ts";
import { isGiven } from "./command-line/given.ts";
import { parseCommandLine } from "./command-line/parse.ts";
import type { Parsed } from "./command-line/parse.ts";
import { readSettings } from "./settings/read-settings.ts";
import { failureJson, failureText } from "./terminal/failure.ts";
import { isColored, styleFor } from "./terminal/style.ts";
import { Terminal, widthOfStream } from "./terminal/terminal.ts";
import { shown, shownJson } from "./terminal/unseen.ts";
import { wrapped } from "./terminal/wrap.ts";
import { version } from "./version.ts";

/** Runs one command line; returns its exit code. */
export async function main(words: readonly string[]): Promise<number> {
  // All files written from here on are private to their owner: databases, keys, backups.
  process.umask(0o077);
  endWithReader();
  if (words[0] === LIVE_COMMAND) {
    await (await import("./completion/live.ts")).printLive(words.slice(1));
    return 0;
  }
  let parsed: Parsed | undefined;
  try {
    parsed = parseCommandLine(words, COMMANDS);
    return await run(parsed);
  } catch (thrown) {
    const error = WaybillError.from(thrown);
    const isJson =
      parsed?.type === "run" ? isGiven(parsed.given, "json") : words.includes("--json");
    const command = parsed?.type === "run" ? parsed.command.name : undefined;
    const style = styleFor(isColored(process.stderr.isTTY, process.env));
    const code = isStatusCode(error.status) ? exitCodeOf(error.status) : 1;
    const text = isJson
      ? shownJson(failureJson(error, code))
      : shown(wrapped(failureText(error, command, code, style), widthOfStream(process.stderr)));
    process.stderr.write(`${text}\n`);
    if (process.env["WAYBILL_DEBUG"]) process.stderr.write(`${shown(inspect(thrown))}\n`);
    return code;
  }
}

async function run(parsed: Parsed): Promise<number> {
  if (parsed.type === "version") {
    process.stdout.write(`${version()}\n`);
    return 0;
  }
  if (parsed.type === "help") {
    const stream = parsed.isAsked ? process.stdout : process.stderr;
    const width = widthOfStream(stream);
    const style = styleFor(isColored(stream.isTTY, process.env));
    stream.write(shown(wrapped(helpFor(parsed.words, COMMANDS, style, width), width)));
    return parsed.isAsked ? 0 : exitCodeOf(400);
  }
  const { command, given } = parsed;
  const terminal = new Terminal({
    isJson: isGiven(given, "json"),
    isQuiet: isGiven(given, "quiet"),
  });
  const settings = readSettings(given.options);
  const stop = new AbortController();
  const runCommand = await command.load();
  const release = onSignal(stop);
  try {
    return (await runCommand({ given, settings, terminal, signal: stop.signal })) ?? 0;
  } finally {
    release();
    terminal.status(undefined);
  }
}

/** The first Ctrl-C asks the command to end, the second one kills it. */
function onSignal(stop: AbortController): () => void {
  const ask = () => {
    if (stop.signal.aborted) process.exit(exitCodeOf(499));
    stop.abort(new WaybillError(499, "The command was interrupted."));
  };
  process.on("SIGINT", ask).on("SIGTERM", ask);
  return () => process.off("SIGINT", ask).off("SIGTERM", ask);
}

/** `waybill ledger export | head` ends with `head`, without an error. */
function endWithReader(): void {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(0);
    throw error;
  });
}
