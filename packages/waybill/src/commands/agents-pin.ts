import type { Run } from "../command-line/command.ts";
import { hubClient } from "../hub/client.ts";
import { printable } from "../terminal/text.ts";

export const run: Run = async ({ given, settings, terminal, signal }) => {
  const { agent = "", key = "" } = given.arguments;
  const hub = hubClient({ settings, terminal, signal });
  await hub.post(`/v1/agents/${encodeURIComponent(agent)}/pin`, { kid: key });
  await terminal.answer({ pinned: agent, kid: key }, (style) =>
    [
      `${style.good("✔")} The next manifest of ${printable(agent)} must be signed by ${printable(key)}, and ends its old keys.`,
      style.faint(
        "Start it with that key. Agents that have known another key refuse it until they are started again, or given the key in trust (pins).",
      ),
    ].join("\n"),
  );
};
