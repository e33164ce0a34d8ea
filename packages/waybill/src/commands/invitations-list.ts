import type { WireInvitation } from "@waybill/protocol/wire";
import type { Run } from "../command-line/command.ts";
import { hubClient } from "../hub/client.ts";
import { listOf } from "../hub/list.ts";
import { columns } from "../terminal/columns.ts";
import { printable } from "../terminal/text.ts";

export const run: Run = async ({ settings, terminal, signal }) => {
  const hub = hubClient({ settings, terminal, signal });
  const invitations = await listOf<WireInvitation>(hub, "/v1/invitations", "invitations");
  await terminal.answer({ invitations }, (style) => {
    if (invitations.length === 0) return "There is no invitation. To make one: waybill invite";
    const rows = invitations.map(({ id, agent = "any", expires_at: until, used_by: user }) => [
      style.strong(printable(id)),
      printable(agent),
      user === undefined ? stateAt(until, Date.now()) : `used by ${printable(user)}`,
    ]);
    return columns(["INVITATION", "FOR", "STATE"], rows, style.faint, terminal.width);
  });
};

function stateAt(until: string, now: number): string {
  return `${Date.parse(until) <= now ? "expired at" : "open until"} ${printable(until)}`;
}
