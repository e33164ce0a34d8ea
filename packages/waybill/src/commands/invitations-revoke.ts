import type { Run } from "../command-line/command.ts";
import { hubClient } from "../hub/client.ts";
import { printable } from "../terminal/text.ts";

export const run: Run = async ({ given, settings, terminal, signal }) => {
  const { invitation = "" } = given.arguments;
  const hub = hubClient({ settings, terminal, signal });
  await hub.post(`/v1/invitations/${encodeURIComponent(invitation)}/revoke`);
  await terminal.answer(
    { revoked: invitation },
    (style) =>
      `${style.good("✔")} Revoked the invitation ${printable(invitation)}. Nobody can enrol with it any longer.`,
  );
};
