import type { Run } from "../command-line/command.ts";
import { idOf } from "../command-line/id.ts";
import { hubClient } from "../hub/client.ts";
import { recordContextOf, recordOf } from "../hub/record.ts";
import { buildTrace } from "../trace/build.ts";
import { traceJson } from "../trace/json.ts";
import { traceText } from "../trace/tree.ts";

export const run: Run = async ({ given, settings, terminal, signal }) => {
  const id = idOf(given.arguments["id"]!, "the id of a job or a handoff");
  const hub = hubClient({ settings, terminal, signal });
  terminal.status("reading the record");
  const { correlationId, recorded } = await recordOf(hub, id);
  const trace = buildTrace(correlationId, recorded, await recordContextOf(hub, recorded));
  await terminal.answer(traceJson(trace), (style) =>
    traceText(trace, terminal.columns, Date.now(), style),
  );
};
