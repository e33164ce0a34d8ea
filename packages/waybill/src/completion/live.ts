/// <reference types="node" />
import { hubClient } from "../hub/client.ts";
import { KINDS, namesKnown } from "../hub/known.ts";
import { readSettings } from "../settings/read-settings.ts";
import { flagOf, SETTING_NAMES } from "../settings/table.ts";
import { Terminal } from "../terminal/terminal.ts";

/** Pressing Tab must not wait for a slow hub. */
const WITHIN_MS = 3_000;
/** A name without characters that a shell interprets. */
const PLAIN_NAME = /^[\p{L}\p{N}][\p{L}\p{N}._/@+-]*$/u;

/** Prints the names of a kind that the running hub knows, one a line; prints nothing on any error. */
export async function printLive([kind, ...typed]: readonly string[]): Promise<void> {
  const asked = KINDS.find((each) => each === kind);
  if (asked === undefined) return;
  try {
    const settings = readSettings(flagsIn(typed));
    const terminal = new Terminal({ isJson: false, isQuiet: true });
    const hub = hubClient({ settings, terminal, signal: AbortSignal.timeout(WITHIN_MS) });
    const names = (await namesKnown(hub, asked)).filter((name) => PLAIN_NAME.test(name));
    if (names.length > 0) await terminal.verbatim(`${names.join("\n")}\n`);
  } catch {
    // A completion can't report errors.
  }
}

/** The options before the cursor that select the hub. */
function flagsIn(words: readonly string[]): Record<string, string> {
  const names = new Set<string>(["config", ...SETTING_NAMES.map(flagOf)]);
  const flags: Record<string, string> = {};
  for (const [index, word] of words.entries()) {
    const [, name = "", inline] = /^--([\w-]+)(?:=(.*))?$/s.exec(word) ?? [];
    const value = inline ?? words[index + 1];
    if (names.has(name) && value !== undefined) flags[name] = value;
  }
  return flags;
}
