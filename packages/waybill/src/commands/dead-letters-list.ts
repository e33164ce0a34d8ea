import { isStatusCode, statusOf } from "@waybill/protocol";
import type { Run } from "../command-line/command.ts";
import { countOf } from "../command-line/count.ts";
import { textOf } from "../command-line/given.ts";
import { hubClient } from "../hub/client.ts";
import type { WireDeadLetter } from "@waybill/protocol/wire";
import { listOf } from "../hub/list.ts";
import { columns } from "../terminal/columns.ts";
import { printable } from "../terminal/text.ts";

export const run: Run = async ({ given, settings, terminal, signal }) => {
  const most = countOf(textOf(given, "limit") ?? "100", "limit");
  const hub = hubClient({ settings, terminal, signal });
  const letters = await listOf<WireDeadLetter>(hub, "/v1/dead-letters", "dead_letters", most);
  await terminal.answer({ dead_letters: letters }, (style) => {
    if (letters.length === 0) return `${style.good("✔")} There are no dead letters.`;
    const rows = letters.map(({ id, status, capability, delegator, attempts, reason }) => [
      style.name(id),
      style.bad(isStatusCode(status) ? `${status} ${statusOf(status).name}` : String(status)),
      printable(capability),
      delegator,
      String(attempts),
      printable(reason),
    ]);
    const head = ["HANDOFF", "STATUS", "CAPABILITY", "FROM", "TRIES", "WHY"];
    const next = `waybill dead-letters show|replay|discard <handoff>`;
    return `${columns(head, rows, style.faint, terminal.width)}\n\n${style.faint(next)}`;
  });
};
