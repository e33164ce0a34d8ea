import { parseEnvelope, readCompact, statusOf } from "@waybill/protocol";
import type { Run } from "../command-line/command.ts";
import { idOf } from "../command-line/id.ts";
import { hubClient } from "../hub/client.ts";
import { deadLetter } from "../hub/dead-letters.ts";
import { historyOf, recordContextOf } from "../hub/record.ts";
import { pairs } from "../terminal/columns.ts";
import { printable, printableLines } from "../terminal/text.ts";
import { buildTrace } from "../trace/build.ts";
import { traceJson } from "../trace/json.ts";
import { traceText } from "../trace/tree.ts";

export const run: Run = async ({ given, settings, terminal, signal }) => {
  const hub = hubClient({ settings, terminal, signal });
  const { handoff: view, ...letter } = await deadLetter(
    hub,
    idOf(given.arguments["id"]!, "the id of a handoff"),
  );
  const recorded = [{ view, entries: await historyOf(hub, view.id) }];
  const trace = buildTrace(letter.correlation_id, recorded, await recordContextOf(hub, recorded));
  const envelope = parseEnvelope(readCompact(view.envelope).payload);
  await terminal.answer({ ...letter, envelope, trace: traceJson(trace) }, (style) => {
    const work = JSON.stringify(envelope.body, null, 2);
    const rows = [
      ["handoff", style.name(view.id)],
      ["job", letter.correlation_id],
      [
        "why",
        `${style.bad(`${view.status} ${statusOf(view.status).name}`)} ${printable(letter.reason, 2000)}`,
      ],
      ["to do", statusOf(view.status).remedy],
    ] as const;
    return [
      pairs(rows, style.faint),
      traceText(trace, terminal.columns, Date.now(), style),
      `${style.strong("The work")}\n${printableLines(work)}`,
      style.faint(`waybill dead-letters replay ${view.id}`),
    ].join("\n\n");
  });
};
