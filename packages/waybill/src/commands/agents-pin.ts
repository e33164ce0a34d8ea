import type { Run } from "../command-line/command.ts";
import { hubClient } from "../hub/client.ts";
import { printable } from "../terminal/text.ts";

export const run: Run = async ({ given, settings, terminal, signal }) => {
  const { agent = "", key = "" } = given.arguments;
  const hub = hubClient({ settings, terminal, signal });
  await hub.post(`/v1/agents/${encodeURIComponent(agent)}/pin`, { kid: key });
  await terminal.answer({ pinned: agent, kid: key }, (style) =>
    [
      `${style.good("✔")} ${printable(agent)} must sign its next manifest with the key ${printable(key)}; its other keys are refused from now on.`,
      style.faint(
        "Start it with that key. Agents that know the old key refuse the new one until they restart, or until their trust settings pin it.",
      ),
    ].join("\n"),
  );
};
