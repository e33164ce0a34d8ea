import type { WireGroup } from "@waybill/protocol/wire";
import type { Run } from "../command-line/command.ts";
import type { Context } from "../context.ts";
import { groupNamed } from "../hub/groups.ts";
import { hubClient } from "../hub/client.ts";
import { listOf } from "../hub/list.ts";
import { columns, pairs } from "../terminal/columns.ts";
import { quotaText } from "../trace/event-text.ts";

export const run: Run = async (context) => {
  const group = context.given.arguments["group"];
  return group === undefined ? showAll(context) : showOne(context, group);
};

async function showAll({ settings, terminal, signal }: Context): Promise<void> {
  const hub = hubClient({ settings, terminal, signal });
  const groups = await listOf<WireGroup>(hub, "/v1/groups", "groups");
  await terminal.answer({ groups }, (style) => {
    if (groups.length === 0) {
      return "There is no group yet. To make one: waybill groups add <group> <agent…>";
    }
    const rows = groups.map(({ name, members, member_count: count, quota }) => {
      const more = count - members.length;
      const names = members.join(", ") + (more > 0 ? ` and ${more} more` : "");
      return [style.strong(name), quotaText(quota), names];
    });
    return columns(["GROUP", "QUOTA", "MEMBERS"], rows, style.faint, terminal.width);
  });
}

async function showOne({ settings, terminal, signal }: Context, name: string): Promise<void> {
  const hub = hubClient({ settings, terminal, signal });
  const group = await groupNamed(hub, name, (path) => hub.get(path));
  await terminal.answer(group, (style) => {
    const { members, quota } = group as WireGroup;
    const about = pairs(
      [
        ["group", style.strong(name)],
        ["quota", quotaText(quota)],
        ["members", String(members.length)],
      ],
      style.faint,
    );
    return [about, members.join("\n")].filter((part) => part !== "").join("\n\n");
  });
}
