import type { Run } from "../command-line/command.ts";
import { countOf } from "../command-line/count.ts";
import { textOf } from "../command-line/given.ts";
import { hubClient } from "../hub/client.ts";
import { watched } from "../hub/watched.ts";
import { lineOf } from "../terminal/entry-line.ts";
import type { EntryLine } from "../terminal/entry-line.ts";
import { printable } from "../terminal/text.ts";

export const run: Run = async ({ given, settings, terminal, signal }) => {
  const hub = hubClient({ settings, terminal, signal });
  const from = textOf(given, "after");
  const after = from === undefined ? undefined : countOf(from, "after", 0);
  const isWanted = entriesOf(textOf(given, "correlation"));
  terminal.note((style) => style.faint(`Watching ${hub.url}; Ctrl-C stops.`));
  const entries = watched(hub, {
    after,
    signal,
    gone: (why) =>
      terminal.note((style) => `${style.warning("!")} Waiting for the hub: ${printable(why)}`),
    back: (endsEarlier) =>
      terminal.note((style) =>
        endsEarlier
          ? `${style.warning("!")} The hub is back, but its ledger ends before the entries shown above.`
          : `${style.good("✔")} The hub is back, and no entry was missed.`,
      ),
  });
  try {
    for await (const entry of entries) {
      const line = lineOf(entry);
      if (!isWanted(line)) continue;
      if (terminal.isJson) await terminal.answer(line.value, () => "");
      else if (line.text !== undefined) await terminal.write(`${line.text(terminal.out)}\n`);
    }
  } catch (error) {
    // Ctrl-C is the normal end of a watch.
    if (!signal.aborted) throw error;
  }
};

/** The entries of one job, or all. A decision of the hub refers to its handoff, not to the job. */
function entriesOf(job: string | undefined): (line: EntryLine) => boolean {
  const handoffs = new Set<string>();
  return ({ correlationId, handoffId }) => {
    if (job === undefined) return true;
    if (handoffId === null) return false;
    if (correlationId === job) handoffs.add(handoffId);
    return handoffs.has(handoffId);
  };
}
