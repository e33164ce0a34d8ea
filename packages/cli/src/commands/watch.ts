import type { Run } from "../command-line/command.ts";
import { countOf } from "../command-line/count.ts";
import { textOf } from "../command-line/given.ts";
import { hubClient } from "../hub/client.ts";
import { lineOf } from "../terminal/entry-line.ts";

export const run: Run = async ({ given, settings, terminal, signal }) => {
  const hub = hubClient(settings, signal);
  const after = textOf(given, "after");
  if (after !== undefined) countOf(after, "after", 0);
  const correlation = textOf(given, "correlation");
  terminal.note((style) => style.faint(`Watching ${hub.url}; Ctrl-C ends it.`));
  try {
    for await (const line of hub.lines(
      `/v1/watch${after === undefined ? "" : `?after=${after}`}`,
    )) {
      const shown = lineOf(line, correlation);
      if (shown === undefined) continue;
      if (terminal.isJson) await terminal.answer(shown.value, () => "");
      else if (shown.text !== undefined) await terminal.write(`${shown.text(terminal.out)}\n`);
    }
  } catch (error) {
    // Ctrl-C is how a watch ends.
    if (!signal.aborted) throw error;
  }
};
