import type { WireInvitation } from "@waybill/protocol/wire";
import type { Run } from "../command-line/command.ts";
import { textOf } from "../command-line/given.ts";
import { hubClient } from "../hub/client.ts";
import { parseDuration } from "../terminal/duration.ts";
import { printable } from "../terminal/text.ts";

export const run: Run = async ({ given, settings, terminal, signal }) => {
  const expires = textOf(given, "expires");
  const hub = hubClient({ settings, terminal, signal });
  const made = (await hub.post("/v1/invitations", {
    agent: textOf(given, "agent"),
    expires_seconds: expires === undefined ? undefined : parseDuration(expires, "expires") / 1000,
  })) as WireInvitation;
  const { agent = "one agent", invitation, expires_at: until } = made;
  await terminal.answer(made, () => printable(invitation!));
  terminal.note((style) =>
    style.faint(
      `It lets ${printable(agent)} enrol once, until ${printable(until)}. Start the agent with WAYBILL_INVITATION set to it. Keep it secret; it is never sent over the network.`,
    ),
  );
};
