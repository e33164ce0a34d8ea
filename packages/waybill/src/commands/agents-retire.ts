import type { Run } from "../command-line/command.ts";
import { hubClient } from "../hub/client.ts";
import { printable } from "../terminal/text.ts";

export const run: Run = async ({ given, settings, terminal, signal }) => {
  const { agent = "" } = given.arguments;
  const hub = hubClient({ settings, terminal, signal });
  await hub.post(`/v1/agents/${encodeURIComponent(agent)}/retire`);
  await terminal.answer({ retired: agent }, (style) =>
    [
      `${style.good("✔")} ${printable(agent)} is retired: its keys are refused, and it takes no work.`,
      style.faint(
        `Work that waited for it goes to others or ends as a dead letter; its own handoffs continue. To bring it back with a new key: waybill agents pin ${printable(agent)} <thumbprint>`,
      ),
    ].join("\n"),
  );
};
