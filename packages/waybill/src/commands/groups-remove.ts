import type { Run } from "../command-line/command.ts";
import { hubClient } from "../hub/client.ts";
import { groupNamed } from "../hub/groups.ts";
import { printable } from "../terminal/text.ts";

export const run: Run = async ({ given, settings, terminal, signal }) => {
  const { group = "" } = given.arguments;
  const agents = given.words ?? [];
  const hub = hubClient({ settings, terminal, signal });
  if (agents.length === 0) {
    await groupNamed(hub, group, (path) => hub.post(`${path}/remove`));
    await terminal.answer(
      { group, removed: true },
      (style) => `${style.good("✔")} Removed the group ${printable(group)}.`,
    );
    return;
  }
  await groupNamed(hub, group, (path) => hub.post(`${path}/members`, { remove: agents }));
  await terminal.answer(
    { group, removed: agents },
    (style) =>
      `${style.good("✔")} ${printable(agents.join(", "))} ${agents.length === 1 ? "is" : "are"} not in the group ${printable(group)} any longer.`,
  );
};
