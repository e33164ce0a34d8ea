import { WaybillError } from "@waybill/protocol";
import type { Run } from "../command-line/command.ts";
import { COMMANDS } from "../command-line/commands.ts";
import { bashCompletion } from "../completion/bash.ts";
import { fishCompletion } from "../completion/fish.ts";
import { SHELLS } from "../completion/shells.ts";
import { placesOf } from "../completion/words.ts";
import { zshCompletion } from "../completion/zsh.ts";

const SCRIPTS = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion };

export const run: Run = async ({ given, terminal }) => {
  const shell = given.arguments["shell"]!;
  if (!Object.hasOwn(SCRIPTS, shell)) {
    throw new WaybillError(
      400,
      `There is no completion for ${shell}; the supported shells are ${SHELLS.join(", ")}.`,
    );
  }
  const script = SCRIPTS[shell as keyof typeof SCRIPTS](placesOf(COMMANDS));
  if (terminal.isJson) await terminal.answer({ shell, script }, () => script);
  else await terminal.verbatim(script);
};
