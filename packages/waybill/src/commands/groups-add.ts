import type { Run } from "../command-line/command.ts";
import { hubClient } from "../hub/client.ts";
import { printable } from "../terminal/text.ts";

export const run: Run = async ({ given, settings, terminal, signal }) => {
  const { group = "" } = given.arguments;
  const agents = given.words ?? [];
  const hub = hubClient({ settings, terminal, signal });
  await hub.post(`/v1/groups/${encodeURIComponent(group)}/members`, { add: agents });
  await terminal.answer(
    { group, added: agents },
    (style) =>
      `${style.good("✔")} ${printable(agents.join(", "))} ${agents.length === 1 ? "is" : "are"} in the group ${printable(group)} now.`,
  );
};
